#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "bench/kernels/rnn_layer.h"
#include "kernels/executor.h"

namespace bench {

/// The part of a layer's computation that is timed. Forward and backward are those of training.
enum class RnnPhase : std::uint8_t { inference, forward, backward };
std::string_view name_of(RnnPhase phase);

/// A layer on a device.
class RnnTimer {
 public:
  /// Computes in `dtype`: f32, bf16 or f16. Throws UsageError if the device cannot run the layer.
  RnnTimer(const RnnLayerSize& size, RnnForm form, bool training, DType dtype, Backend& backend);

  /// Runs everything once, waits, and returns the time of that phase, from the beginning of its
  /// first kernel to the end of its last.
  std::chrono::nanoseconds run(RnnPhase phase);

  /// The plan's steps of a phase.
  [[nodiscard]] std::span<const Step> steps(RnnPhase phase) const;
  /// The multiply-adds of the layer, whichever form computes it. Those of the backward pass are
  /// twice as many as those of the forward pass.
  [[nodiscard]] std::int64_t multiply_adds(RnnPhase phase) const;
  /// The memory of the plan.
  [[nodiscard]] std::size_t memory_bytes() const;
  /// The implementation of the phase's largest kernel.
  [[nodiscard]] std::string implementation(RnnPhase phase) const;

 private:
  RnnLayerSize size_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace bench
