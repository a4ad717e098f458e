#include "bench/plan/network.h"

#include "models/base/errors.h"
#include "models/passes/backward.h"
#include "models/passes/fuse.h"
#include "models/passes/fuse_batch_norm.h"
#include "models/passes/gather_averages.h"
#include "models/passes/gradient_sums.h"
#include "models/passes/mixed_precision.h"
#include "models/passes/normalize_where_read.h"

namespace bench {
namespace {

Graph make_float_graph(const RunSettings& settings, const Backend& backend, Graph network) {
  if (settings.frozen()) {
    network = fold_batch_norm(network).graph;
  }
  if (is_half(settings.dtype)) {
    network = mixed_precision(network, settings.dtype,
                              settings.training() ? Weights16::cast : Weights16::stored);
  }
  return fuse(network,
              [&](const Graph& graph, const Node& node) { return backend.supports(graph, node); });
}

}  // namespace

Graph build_run_network(const RunSettings& settings, std::int64_t batch) {
  return build_network(*settings.model, {.batch = batch,
                                         .first_image = settings.tower * batch,
                                         .num_classes = settings.num_classes,
                                         .image_size = settings.image_size,
                                         .dtype = accumulation_type(settings.dtype),
                                         .training = settings.training(),
                                         .accuracies = settings.accuracies(),
                                         .aux_head = settings.aux_head,
                                         .label_smoothing = settings.label_smoothing,
                                         .weight_decay = settings.optimizer.weight_decay,
                                         .seed = settings.seed});
}

std::vector<FoldedBatchNorm> run_folds(const RunSettings& settings) {
  return settings.frozen() ? fold_batch_norm(build_run_network(settings, 1)).folds
                           : std::vector<FoldedBatchNorm>();
}

Graph build_float_graph(const RunSettings& settings, const Backend& backend, std::int64_t batch) {
  return make_float_graph(settings, backend, build_run_network(settings, batch));
}

Graph make_run_graph(const RunSettings& settings, const Backend& backend, Graph network) {
  Graph fused = make_float_graph(settings, backend, std::move(network));
  if (!settings.training()) {
    return fused;
  }
  const SupportQuery supports = [&](const Graph& graph, const Node& node) {
    return backend.supports(graph, node);
  };
  if (settings.gpu.conv_statistics) {
    fused = fuse_batch_norm(fused, supports);
  }
  Graph graph = add_backward(gather_moving_averages(fused), "loss");
  // Readers in NCHW would each normalize in a separate pass and save nothing.
  if (settings.gpu.conv_prologue && settings.format != DataFormat::nchw) {
    graph = normalize_where_read(graph, supports);
  }
  return sum_gradients_where_read(graph, supports);
}

QuantizedGraph build_quantized_graph(const RunSettings& settings, const Backend& backend,
                                     std::int64_t batch, const Ranges& ranges) {
  QuantizedGraph result =
      quantize(build_float_graph(settings, backend, batch), ranges,
               [&](const Graph& graph, const Node& node) { return backend.supports(graph, node); });
  if (result.weights.empty()) {
    const std::string refusal = fmt::format("--dtype=int8: --device={} runs no layer of {} in int8",
                                            settings.device_label, settings.model->name);
    throw UsageError(result.refusals.empty()
                         ? refusal
                         : fmt::format("{}: {}", refusal, result.refusals.front()));
  }
  return result;
}

Graph build_run_graph(const RunSettings& settings, const Backend& backend, std::int64_t batch) {
  if (settings.int8) {
    const Ranges unknown = unknown_ranges(build_float_graph(settings, backend, batch));
    return build_quantized_graph(settings, backend, batch, unknown).graph;
  }
  return make_run_graph(settings, backend, build_run_network(settings, batch));
}

}  // namespace bench
