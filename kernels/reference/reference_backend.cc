#include "kernels/reference/reference_backend.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "kernels/reference/makers.h"
#include "kernels/reference/operations.h"
#include "kernels/reference/optimizer.h"
#include "kernels/reference/storage.h"
#include "kernels/runtime/host_memory.h"
#include "kernels/runtime/host_stream.h"
#include "models/base/errors.h"
#include "models/ops/ops.h"

namespace bench {
namespace {

using reference::Crew;
using reference::Operation;
using reference::Storage;
using reference::Tensor;

using Maker = Operation (*)(const Graph&, const Node&);

Maker maker_of(const OpDef* op) {
  static const std::map<const OpDef*, Maker> kMakers{
#define BENCH_OP(object, name) {&object, reference::name},
#include "models/ops/ops.inc"
  };
  const auto found = kMakers.find(op);
  return found == kMakers.end() ? nullptr : found->second;
}

std::vector<Storage> storages_of(const Graph& graph, std::span<const ValueId> ids) {
  std::vector<Storage> storages;
  storages.reserve(ids.size());
  std::transform(ids.begin(), ids.end(), std::back_inserter(storages),
                 [&](ValueId id) { return reference::storage_of(graph, id); });
  return storages;
}

/// Converts the inputs to double, computes, converts the outputs back; all of it in the workspace.
class ReferenceKernel : public Kernel {
 public:
  ReferenceKernel(Operation operation, std::vector<Storage> inputs, std::vector<Storage> outputs)
      : operation_(std::move(operation)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
    for (const Storage& storage : inputs_) {
      in_.push_back({.shape = storage.shape, .data = nullptr});
    }
    for (const Storage& storage : outputs_) {
      out_.push_back({.shape = storage.shape, .data = nullptr});
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const {
    std::int64_t elements = operation_.scratch_elements;
    for (const Tensor& tensor : in_) {
      elements += tensor.elements();
    }
    for (const Tensor& tensor : out_) {
      elements += tensor.elements();
    }
    return static_cast<std::size_t>(elements) * sizeof(double);
  }

  void launch(Stream&, std::span<const TensorView> inputs, std::span<const TensorView> outputs,
              void* workspace) override {
    auto* free = static_cast<double*>(workspace);
    const auto place = [&](Tensor& tensor) {
      tensor.data = free;
      free += tensor.elements();
    };
    std::for_each(in_.begin(), in_.end(), place);
    std::for_each(out_.begin(), out_.end(), place);
    for (std::size_t i = 0; i < in_.size(); ++i) {
      reference::load(inputs_[i], inputs[i], in_[i]);
    }
    operation_.compute(in_, out_, Crew(alone_, free, operation_.scratch_elements));
    for (std::size_t i = 0; i < out_.size(); ++i) {
      reference::store(outputs_[i], out_[i], outputs[i]);
    }
  }

 private:
  Operation operation_;
  HostThreads alone_;
  std::vector<Storage> inputs_;
  std::vector<Storage> outputs_;
  std::vector<Tensor> in_;
  std::vector<Tensor> out_;
};

/// The same elements in another type.
class ConversionKernel : public Kernel {
 public:
  ConversionKernel(const Storage& from, const Storage& to) : from_(from), to_(to) {}
  void launch(Stream&, std::span<const TensorView> inputs, std::span<const TensorView> outputs,
              void*) override {
    if (from_.dtype == to_.dtype) {
      std::memcpy(outputs[0].data, inputs[0].data, outputs[0].bytes);
      return;
    }
    std::vector<double> elements(static_cast<std::size_t>(from_.shape.elements()));
    const Tensor wide{.shape = from_.shape, .data = elements.data()};
    reference::load(from_, inputs[0], wide);
    reference::store(to_, wide, outputs[0]);
  }

 private:
  Storage from_;
  Storage to_;
};

class ReferenceBackend : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "reference"; }

  [[nodiscard]] Support supports(const Graph& /*graph*/, const Node& node) const override {
    if (maker_of(node.op) == nullptr) {
      return {.yes = false, .why_not = fmt::format("reference: no kernel for {}", node.op->name)};
    }
    if (node.op->fused != nullptr && node.op->fused(node)) {
      return {.yes = false, .why_not = "reference runs the parts of a fused node, not the node"};
    }
    return {};
  }

  std::vector<Candidate> candidates(const Graph& graph, const Node& node, DataFormat) override {
    if (const Support support = supports(graph, node); !support) {
      throw UsageError(fmt::format("{} ({})", support.why_not, node.name));
    }
    const auto make_kernel = [operation = reference::operation_of(graph, node),
                              inputs = storages_of(graph, node.inputs),
                              outputs = storages_of(graph, node.outputs)] {
      return std::make_unique<ReferenceKernel>(operation, inputs, outputs);
    };
    Candidate candidate{.implementation = "reference",
                        .inputs = layouts_of(graph, node.inputs),
                        .outputs = layouts_of(graph, node.outputs),
                        .opaque_bytes = {},
                        .workspace_bytes = make_kernel()->workspace_bytes(),
                        .seconds = 0,
                        .may_overwrite = {},
                        .make = make_kernel};
    for (const ValueId id : node.outputs) {
      candidate.opaque_bytes.push_back(
          graph.type(id).opaque ? reference::storage_of(graph, id).bytes() : 0);
    }
    // A kernel has read all it needs before it writes.
    if (graph.type(node.outputs[0]) == graph.type(node.inputs[0])) {
      candidate.may_overwrite.push_back({.output = 0, .input = 0});
    }
    for (std::size_t i = 1; node.op == &kMovingAverage && i < node.outputs.size(); ++i) {
      candidate.may_overwrite.push_back({.output = i, .input = 2 * i});
    }
    return {std::move(candidate)};
  }

  [[nodiscard]] Layout canonical_layout(const TensorType& type) const override {
    if (type.opaque) {
      return Layout("indices");
    }
    return Layout(type.shape.rank() == 4 ? "nchw" : "plain");
  }

  [[nodiscard]] std::vector<Layout> input_layouts(const TensorType& type,
                                                  DataFormat) const override {
    return {canonical_layout(type)};
  }

  [[nodiscard]] std::size_t bytes(const TensorType& type, const Layout& layout) override {
    require_canonical(type, layout);
    check(!type.opaque, "reference: only a candidate knows the size of an opaque value");
    return static_cast<std::size_t>(type.shape.elements()) * size_of(type.dtype);
  }

  std::unique_ptr<Kernel> make_reorder(const Placed& from, const Placed& to) override {
    require_canonical(from.type, from.layout);
    require_canonical(to.type, to.layout);
    return std::make_unique<ConversionKernel>(
        Storage{.dtype = from.type.dtype, .shape = from.type.shape},
        Storage{.dtype = to.type.dtype, .shape = to.type.shape});
  }

  [[nodiscard]] double reorder_seconds(const TensorType&, const Layout&, const Layout&) override {
    return 0;
  }

  std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                            std::vector<OptimizerSegment> segments) override {
    return reference::make_optimizer(settings, std::move(segments));
  }

  std::optional<Ceiling> measure_ceiling(DType) override { return std::nullopt; }

  std::unique_ptr<Stream> make_stream() override { return std::make_unique<HostStream>(); }
  std::unique_ptr<Event> make_event() override { return make_host_event(); }

  std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) override {
    return allocate_host_memory(bytes);
  }
  [[nodiscard]] bool shares_host_memory() const override { return true; }

 private:
  void require_canonical(const TensorType& type, const Layout& layout) const {
    check(layout == canonical_layout(type),
          fmt::format("reference: unknown layout {}", layout.token()));
  }

  [[nodiscard]] std::vector<Layout> layouts_of(const Graph& graph,
                                               std::span<const ValueId> ids) const {
    std::vector<Layout> layouts;
    std::transform(ids.begin(), ids.end(), std::back_inserter(layouts),
                   [&](ValueId id) { return canonical_layout(graph.type(id)); });
    return layouts;
  }
};

}  // namespace

reference::Operation reference::operation_of(const Graph& graph, const Node& node) {
  const Maker maker = maker_of(node.op);
  check(maker != nullptr, fmt::format("reference: no kernel for {}", node.op->name));
  return maker(graph, node);
}

std::unique_ptr<Backend> make_reference_backend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace bench
