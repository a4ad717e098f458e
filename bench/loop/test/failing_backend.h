#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/forwarding_backend.h"
#include "models/base/errors.h"

namespace bench {

enum class Fault : std::uint8_t { none, kernel, optimizer };

/// Fails at the N-th launch of a kernel or update.
class FailingKernel final : public Kernel {
 public:
  FailingKernel(std::unique_ptr<Kernel> inner, std::atomic<int>& left)
      : inner_(std::move(inner)), left_(left) {}
  void launch(Stream& stream, std::span<const TensorView> inputs,
              std::span<const TensorView> outputs, void* workspace) override {
    if (left_.fetch_sub(1) == 0) {
      throw DeviceError("the kernel broke");
    }
    inner_->launch(stream, inputs, outputs, workspace);
  }

 private:
  std::unique_ptr<Kernel> inner_;
  std::atomic<int>& left_;
};

class FailingOptimizer final : public Optimizer {
 public:
  FailingOptimizer(std::unique_ptr<Optimizer> inner, std::atomic<int>& left)
      : inner_(std::move(inner)), left_(left) {}
  void reset(Stream& stream, std::span<void* const> slots, StepState* state) override {
    inner_->reset(stream, slots, state);
  }
  void judge(Stream& stream, const void* gradients, StepState* state) override {
    inner_->judge(stream, gradients, state);
  }
  void launch(Stream& stream, const OptimizerMemory& memory, StepState* state) override {
    if (left_.fetch_sub(1) == 0) {
      throw DeviceError("the update broke");
    }
    inner_->launch(stream, memory, state);
  }

 private:
  std::unique_ptr<Optimizer> inner_;
  std::atomic<int>& left_;
};

class FailingBackend final : public ForwardingBackend {
 public:
  /// Only nodes with this name count; an empty name counts all kernels.
  FailingBackend(std::unique_ptr<Backend> inner, Fault fault, int good, std::string node = {})
      : ForwardingBackend(*inner),
        owned_(std::move(inner)),
        fault_(fault),
        node_(std::move(node)),
        left_(good) {}
  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override {
    std::vector<Candidate> candidates = ForwardingBackend::candidates(graph, node, format);
    if (fault_ == Fault::kernel && (node_.empty() || node.name == node_)) {
      for (Candidate& candidate : candidates) {
        candidate.make = [this, make = std::move(candidate.make)] {
          return std::make_unique<FailingKernel>(make(), left_);
        };
      }
    }
    return candidates;
  }
  std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                            std::vector<OptimizerSegment> segments) override {
    auto made = ForwardingBackend::make_optimizer(settings, std::move(segments));
    if (fault_ != Fault::optimizer) {
      return made;
    }
    return std::make_unique<FailingOptimizer>(std::move(made), left_);
  }

 private:
  std::unique_ptr<Backend> owned_;
  Fault fault_;
  std::string node_;
  /// The number of launches that succeed before the failure.
  std::atomic<int> left_;
};

}  // namespace bench
