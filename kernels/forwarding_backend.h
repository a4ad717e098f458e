#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "kernels/backend.h"

namespace bench {

/// A backend that forwards everything to another one, which must outlive it. Wrappers override what
/// they change; one that creates streams overrides both kinds.
class ForwardingBackend : public Backend {
 public:
  explicit ForwardingBackend(Backend& inner) : inner_(inner) {}

  [[nodiscard]] std::string_view name() const override { return inner_.name(); }
  [[nodiscard]] Support supports(const Graph& graph, const Node& node) const override {
    return inner_.supports(graph, node);
  }
  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override {
    return inner_.candidates(graph, node, format);
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
  std::unique_ptr<Kernel> make_normalization(const Normalization& range,
                                             const Placed& images) override {
    return inner_.make_normalization(range, images);
  }
  [[nodiscard]] double reorder_seconds(const TensorType& type, const Layout& from,
                                       const Layout& to) override {
    return inner_.reorder_seconds(type, from, to);
  }
  [[nodiscard]] std::optional<TileOrder> order_of_copy(const Placed& variable,
                                                       const Placed& copy) override {
    return inner_.order_of_copy(variable, copy);
  }
  std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                            std::vector<OptimizerSegment> segments) override {
    return inner_.make_optimizer(settings, std::move(segments));
  }
  std::unique_ptr<Stream> make_stream() override { return inner_.make_stream(); }
  std::unique_ptr<Stream> make_urgent_stream() override { return inner_.make_urgent_stream(); }
  std::unique_ptr<Event> make_event() override { return inner_.make_event(); }
  std::optional<Ceiling> measure_ceiling(DType dtype) override {
    return inner_.measure_ceiling(dtype);
  }
  std::optional<double> measure_product(DType dtype) override {
    return inner_.measure_product(dtype);
  }
  std::optional<double> sample_flops(DType dtype) override { return inner_.sample_flops(dtype); }
  std::optional<double> measure_clock() override { return inner_.measure_clock(); }
  std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) override {
    return inner_.allocate(bytes);
  }
  std::unique_ptr<DeviceMemory> allocate_staging(std::size_t bytes) override {
    return inner_.allocate_staging(bytes);
  }
  [[nodiscard]] bool shares_host_memory() const override { return inner_.shares_host_memory(); }
  [[nodiscard]] bool reaches(const void* memory) override { return inner_.reaches(memory); }
  [[nodiscard]] MemoryTraits memory_traits() const override { return inner_.memory_traits(); }
  [[nodiscard]] bool supports_sparse_gradients() const override {
    return shares_host_memory() && inner_.supports_sparse_gradients();
  }
  [[nodiscard]] bool narrow_filter_gradients() const override {
    return inner_.narrow_filter_gradients();
  }
  [[nodiscard]] HostThreads host_threads() override { return inner_.host_threads(); }

 private:
  Backend& inner_;
};

}  // namespace bench
