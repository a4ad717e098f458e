#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/forwarding_backend.h"
#include "kernels/runtime/kernel_timer.h"
#include "models/base/errors.h"

namespace bench {

/// A clock that only kernels move.
struct KernelClock {
  double now = 0;
  std::int64_t launches = 0;
};

/// A further way to run a backend's candidate, with the same numbers.
struct Way {
  std::string name;
  /// The time of a launch on the clock.
  double seconds = 0;
  /// In addition to the kernel's workspace.
  std::size_t workspace_bytes = 0;
  bool deterministic = true;
  /// The device refuses to create this kernel.
  bool refused = false;
  /// Launches of this kernel fail.
  bool fails = false;
};

/// Offers each of another backend's candidates in several ways, which the estimates prefer in their
/// order. Calls `look` before each launch. The clock must outlive it.
class SeveralWaysBackend final : public ForwardingBackend {
 public:
  using Look = std::function<void(Stream& stream, std::span<const TensorView> inputs)>;

  SeveralWaysBackend(std::unique_ptr<Backend> inner, std::vector<Way> ways, KernelClock& clock)
      : ForwardingBackend(*inner),
        owned_(std::move(inner)),
        ways_(std::move(ways)),
        clock_(clock) {}

  Look look = [](Stream&, std::span<const TensorView>) {};

  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override {
    constexpr double kNextWay = 1.01;
    std::vector<Candidate> all;
    for (const Candidate& inner : ForwardingBackend::candidates(graph, node, format)) {
      double slower = 1;
      for (const Way& way : ways_) {
        Candidate& candidate = all.emplace_back(inner);
        candidate.implementation = fmt::format("{}:{}", inner.implementation, way.name);
        candidate.workspace_bytes += way.workspace_bytes;
        candidate.deterministic = way.deterministic;
        candidate.seconds *= slower;
        slower *= kNextWay;
        candidate.make = [this, way, make = inner.make]() -> std::unique_ptr<Kernel> {
          if (way.refused) {
            throw DeviceError(fmt::format("the kernel {} does not exist", way.name));
          }
          return std::make_unique<TimedKernel>(*this, make(), way);
        };
      }
    }
    return all;
  }

 private:
  class TimedKernel final : public Kernel {
   public:
    TimedKernel(SeveralWaysBackend& backend, std::unique_ptr<Kernel> inner, Way way)
        : backend_(backend), inner_(std::move(inner)), way_(std::move(way)) {}
    void launch(Stream& stream, std::span<const TensorView> inputs,
                std::span<const TensorView> outputs, void* workspace) override {
      backend_.look(stream, inputs);
      if (way_.fails) {
        throw DeviceError("the launch failed");
      }
      inner_->launch(stream, inputs, outputs, workspace);
      backend_.clock_.now += way_.seconds;
      ++backend_.clock_.launches;
    }

   private:
    SeveralWaysBackend& backend_;
    std::unique_ptr<Kernel> inner_;
    Way way_;
  };

  std::unique_ptr<Backend> owned_;
  std::vector<Way> ways_;
  KernelClock& clock_;
};

/// Reads that clock; a kernel of another backend takes a hundredth of a second.
class ClockTimer final : public KernelTimer {
 public:
  explicit ClockTimer(const KernelClock& clock) : clock_(clock) {}
  double seconds(Stream& stream, const std::function<void()>& enqueue) override {
    const KernelClock before = clock_;
    enqueue();
    stream.synchronize();
    constexpr double kNoKernel = 0.01;
    return clock_.launches == before.launches ? kNoKernel : clock_.now - before.now;
  }

 private:
  const KernelClock& clock_;
};

}  // namespace bench
