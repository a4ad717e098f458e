#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/backend.h"

namespace bench {

/// A backend whose kernels are another one's, but that of one node: there every f32 of the first
/// output comes out larger by a factor. The other backend has to outlive it and to compute before
/// its launches return.
class SpoiledBackend : public Backend {
 public:
  SpoiledBackend(Backend& inner, std::string node, float factor)
      : inner_(inner), node_(std::move(node)), factor_(factor) {}

  [[nodiscard]] std::string_view name() const override { return inner_.name(); }
  [[nodiscard]] Support supports(const Graph& graph, const Node& node) const override {
    return inner_.supports(graph, node);
  }
  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override {
    std::vector<Candidate> candidates = inner_.candidates(graph, node, format);
    if (node.name == node_) {
      for (Candidate& candidate : candidates) {
        candidate.make = [make = candidate.make, factor = factor_] {
          return std::make_unique<SpoiledKernel>(make(), factor);
        };
      }
    }
    return candidates;
  }
  [[nodiscard]] Layout canonical_layout(const TensorType& type) const override {
    return inner_.canonical_layout(type);
  }
  [[nodiscard]] std::vector<Layout> input_layouts(const TensorType& type,
                                                  DataFormat format) const override {
    return inner_.input_layouts(type, format);
  }
  [[nodiscard]] std::size_t bytes(const TensorType& type, const Layout& layout) override {
    return inner_.bytes(type, layout);
  }
  std::unique_ptr<Kernel> make_reorder(const Placed& from, const Placed& to) override {
    return inner_.make_reorder(from, to);
  }
  [[nodiscard]] double reorder_seconds(const TensorType& type, const Layout& from,
                                       const Layout& to) override {
    return inner_.reorder_seconds(type, from, to);
  }
  std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                            std::vector<OptimizerSegment> segments) override {
    return inner_.make_optimizer(settings, std::move(segments));
  }
  std::unique_ptr<Stream> make_stream() override { return inner_.make_stream(); }
  std::optional<Ceiling> measure_ceiling(DType dtype) override {
    return inner_.measure_ceiling(dtype);
  }
  std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) override {
    return inner_.allocate(bytes);
  }

 private:
  class SpoiledKernel : public Kernel {
   public:
    SpoiledKernel(std::unique_ptr<Kernel> inner, float factor)
        : inner_(std::move(inner)), factor_(factor) {}
    void launch(Stream& stream, std::span<const TensorView> inputs,
                std::span<const TensorView> outputs, void* workspace) override {
      inner_->launch(stream, inputs, outputs, workspace);
      for (float& value : std::span(outputs[0].as<float>(), outputs[0].bytes / sizeof(float))) {
        value *= factor_;
      }
    }

   private:
    std::unique_ptr<Kernel> inner_;
    float factor_;
  };

  Backend& inner_;
  std::string node_;
  float factor_;
};

}  // namespace bench
