#include "bench/watched_backend.h"

#include <utility>

namespace bench {
namespace {

class WatchedBackend final : public Backend {
 public:
  WatchedBackend(std::unique_ptr<Backend> inner, PhaseWatch& phases)
      : inner_(std::move(inner)), phases_(phases) {}

  [[nodiscard]] std::string_view name() const override { return inner_->name(); }
  [[nodiscard]] Support supports(const Graph& graph, const Node& node) const override {
    return inner_->supports(graph, node);
  }
  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override {
    tell();
    ++layers_;
    std::vector<Candidate> candidates = inner_->candidates(graph, node, format);
    for (Candidate& candidate : candidates) {
      candidate.make = [this, make = std::move(candidate.make)] {
        tell();
        return make();
      };
    }
    return candidates;
  }
  [[nodiscard]] Layout canonical_layout(const TensorType& type) const override {
    return inner_->canonical_layout(type);
  }
  [[nodiscard]] std::vector<Layout> input_layouts(const TensorType& type,
                                                  DataFormat format) const override {
    return inner_->input_layouts(type, format);
  }
  [[nodiscard]] std::size_t bytes(const TensorType& type, const Layout& layout) override {
    return inner_->bytes(type, layout);
  }
  std::unique_ptr<Kernel> make_reorder(const Placed& from, const Placed& to) override {
    return inner_->make_reorder(from, to);
  }
  [[nodiscard]] double reorder_seconds(const TensorType& type, const Layout& from,
                                       const Layout& to) override {
    tell();
    return inner_->reorder_seconds(type, from, to);
  }
  std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                            std::vector<OptimizerSegment> segments) override {
    return inner_->make_optimizer(settings, std::move(segments));
  }
  std::unique_ptr<Stream> make_stream() override { return inner_->make_stream(); }
  std::optional<Ceiling> measure_ceiling(DType dtype) override {
    return inner_->measure_ceiling(dtype);
  }
  std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) override {
    return inner_->allocate(bytes);
  }

 private:
  void tell() const { phases_.tell("planning", "layer", layers_, 0); }

  std::unique_ptr<Backend> inner_;
  PhaseWatch& phases_;
  std::int64_t layers_ = 0;
};

}  // namespace

std::unique_ptr<Backend> watch_planning(std::unique_ptr<Backend> backend, PhaseWatch& phases) {
  return std::make_unique<WatchedBackend>(std::move(backend), phases);
}

}  // namespace bench
