#include "kernels/reference/reference_backend.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/reference/operations.h"
#include "kernels/reference/optimizer.h"
#include "kernels/reference/storage.h"
#include "kernels/runtime/host_memory.h"
#include "kernels/runtime/host_stream.h"
#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/activation.h"
#include "models/ops/add.h"
#include "models/ops/batch_norm.h"
#include "models/ops/bias_add.h"
#include "models/ops/cast.h"
#include "models/ops/channel_scale.h"
#include "models/ops/channel_shuffle.h"
#include "models/ops/channel_slice.h"
#include "models/ops/concat.h"
#include "models/ops/conv2d.h"
#include "models/ops/drop_path.h"
#include "models/ops/dropout.h"
#include "models/ops/flatten.h"
#include "models/ops/fully_connected.h"
#include "models/ops/loss.h"
#include "models/ops/lrn.h"
#include "models/ops/moving_average.h"
#include "models/ops/pool.h"
#include "models/ops/quantized.h"
#include "models/ops/spatial_mean.h"
#include "models/ops/spatial_pad.h"

namespace bench {
namespace {

using reference::Crew;
using reference::Operation;
using reference::Storage;
using reference::Tensor;

struct Entry {
  const OpDef* op = nullptr;
  Operation (*make)(const Graph&, const Node&) = nullptr;
};

constexpr std::array kOperations{
    Entry{&kActivation, reference::activation},
    Entry{&kActivationBackward, reference::activation_backward},
    Entry{&kAdd, reference::add},
    Entry{&kAvgPool, reference::avg_pool},
    Entry{&kAvgPoolBackward, reference::avg_pool_backward},
    Entry{&kBatchNorm, reference::batch_norm},
    Entry{&kBatchNormBackward, reference::batch_norm_backward},
    Entry{&kBatchNormInference, reference::batch_norm_inference},
    Entry{&kBiasAdd, reference::bias_add},
    Entry{&kBiasBackward, reference::bias_backward},
    Entry{&kCast, reference::reshape},
    Entry{&kChannelPad, reference::channel_pad},
    Entry{&kChannelScale, reference::channel_scale},
    Entry{&kChannelScaleBackward, reference::channel_scale_backward},
    Entry{&kChannelShuffle, reference::channel_shuffle},
    Entry{&kChannelSlice, reference::channel_slice},
    Entry{&kConcat, reference::concat},
    Entry{&kConv2d, reference::conv2d},
    Entry{&kConv2dBackwardData, reference::conv2d_backward_data},
    Entry{&kConv2dBackwardWeights, reference::conv2d_backward_weights},
    Entry{&kDequantize, reference::dequantize},
    Entry{&kDropPath, reference::drop_path},
    Entry{&kDropout, reference::dropout},
    Entry{&kDropoutBackward, reference::dropout},
    Entry{&kFlatten, reference::reshape},
    Entry{&kFullyConnected, reference::fully_connected},
    Entry{&kFullyConnectedBackwardData, reference::fully_connected_backward_data},
    Entry{&kFullyConnectedBackwardWeights, reference::fully_connected_backward_weights},
    Entry{&kL2Loss, reference::l2_loss},
    Entry{&kL2LossBackward, reference::l2_loss_backward},
    Entry{&kLrn, reference::lrn},
    Entry{&kLrnBackward, reference::lrn_backward},
    Entry{&kMaxPool, reference::max_pool},
    Entry{&kMaxPoolBackward, reference::max_pool_backward},
    Entry{&kMovingAverage, reference::moving_average},
    Entry{&kQuantize, reference::quantize},
    Entry{&kQuantizedAdd, reference::quantized_add},
    Entry{&kQuantizedConv2d, reference::quantized_conv2d},
    Entry{&kQuantizedFullyConnected, reference::quantized_fully_connected},
    Entry{&kQuantizedSpatialMean, reference::quantized_spatial_mean},
    Entry{&kSoftmaxCrossEntropy, reference::softmax_cross_entropy},
    Entry{&kSoftmaxCrossEntropyBackward, reference::softmax_cross_entropy_backward},
    Entry{&kSpatialMean, reference::spatial_mean},
    Entry{&kSpatialMeanBackward, reference::spatial_mean_backward},
    Entry{&kSpatialPad, reference::spatial_pad},
    Entry{&kTopKAccuracy, reference::top_k_accuracy},
    Entry{&kUnflatten, reference::reshape},
};

const Entry* find_operation(const OpDef* op) {
  const auto* const found = std::find_if(kOperations.begin(), kOperations.end(),
                                         [&](const Entry& entry) { return entry.op == op; });
  return found == kOperations.end() ? nullptr : found;
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
    if (find_operation(node.op) == nullptr) {
      return {.yes = false, .why_not = cat("reference: no kernel for ", node.op->name)};
    }
    if (node.op->fused != nullptr && node.op->fused(node)) {
      return {.yes = false, .why_not = "reference runs fused nodes as parts"};
    }
    return {};
  }

  std::vector<Candidate> candidates(const Graph& graph, const Node& node, DataFormat) override {
    if (const Support support = supports(graph, node); !support) {
      throw UsageError(cat(support.why_not, " (", node.name, ")"));
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
    check(!type.opaque, "reference: the size of an opaque value is its candidate's");
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
    check(layout == canonical_layout(type), cat("reference: no layout is named ", layout));
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
  const Entry* const entry = find_operation(node.op);
  check(entry != nullptr, cat("reference: no kernel for ", node.op->name));
  return entry->make(graph, node);
}

std::unique_ptr<Backend> make_reference_backend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace bench
