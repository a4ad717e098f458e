#pragma once

#include <span>
#include <vector>

#include "models/passes/quantize.h"
#include "variable_mgmt/tower.h"

namespace bench {

/// Watches a network in f32 to learn which numbers its values take, so that they can be quantised,
/// and what its logits are, so that those of the quantised network can be held against them.
class Calibration {
 public:
  /// `graph`: for inference, folded and fused; its batch is that of each observe().
  Calibration(const Graph& graph, Backend& backend, DataFormat format, const InitialValues& values);

  /// Runs the network on a batch in canonical order and returns its logits. Waits.
  std::vector<float> observe(std::span<const float> images, std::span<const std::int32_t> labels);

  /// Of every value that quantize() may want one of, over all batches so far.
  [[nodiscard]] const Ranges& ranges() const { return ranges_; }

 private:
  void widen(const std::string& value, std::span<const float> numbers);

  std::vector<std::string> watched_;
  Tower tower_;
  Ranges ranges_;
};

/// How close one set of numbers is to another, which is right.
struct Agreement {
  /// Ten times the decimal logarithm of the right numbers' power over that of the error.
  double snr_db = 0;
  std::int64_t examples = 0;
  /// Examples whose largest logit is the same one.
  std::int64_t same_top_1 = 0;
};

/// Compares logits, `classes` for each example. Infinite decibels where there is no error.
Agreement compare_logits(std::span<const float> logits, std::span<const float> right,
                         std::int64_t classes);

}  // namespace bench
