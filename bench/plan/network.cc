#include "bench/plan/network.h"

#include <algorithm>

#include "models/base/errors.h"
#include "models/ops/embedding.h"
#include "models/passes/backward.h"
#include "models/passes/fuse.h"
#include "models/passes/fuse_batch_norm.h"
#include "models/passes/fuse_concat.h"
#include "models/passes/gather_averages.h"
#include "models/passes/gradient_sums.h"
#include "models/passes/mixed_precision.h"
#include "models/passes/normalize_where_read.h"
#include "models/passes/sparse_gradients.h"

namespace bench {
namespace {

SupportQuery supported_by(const Backend& backend) {
  return [&backend](const Graph& graph, const Node& node) { return backend.supports(graph, node); };
}

Graph make_float_graph(const Workload& workload, const Backend& backend, Graph network) {
  if (workload.frozen()) {
    network = fold_batch_norm(network).graph;
  }
  if (is_half(workload.dtype)) {
    network = mixed_precision(network, workload.dtype,
                              workload.training() ? Weights16::cast : Weights16::stored);
  }
  const SupportQuery supports = supported_by(backend);
  const Graph fused = fuse(network, supports);
  return workload.training() ? fused : fuse_concat(fused, supports);
}

/// Why the gradients of any tables are dense; empty if they can be sparse.
std::string why_tables_are_dense(const RunSettings& settings) {
  const Workload& workload = settings.workload;
  if (settings.execution.device != RunDevice::cpu) {
    return fmt::format("with --device={}", name_of(settings.execution.device));
  }
  if (!std::holds_alternative<SgdRule>(workload.optimizer.rule)) {
    return fmt::format("with --optimizer={}, which updates all rows",
                       row_of(workload.optimizer.rule).name);
  }
  if (workload.optimizer.weight_decay != 0) {
    return "without --weight_decay=0: the decay changes all rows";
  }
  if (workload.relaxed || workload.staged) {
    return workload.relaxed ? "with --variable_consistency=relaxed" : "with --staged_vars";
  }
  if (workload.loss_scale.automatic && is_half(workload.dtype)) {
    return "with --fp16_enable_auto_loss_scale";
  }
  if (workload.towers > 1 && settings.outputs.events.with_gradients()) {
    return fmt::format("with --summary_verbosity={} on several devices",
                       settings.outputs.events.verbosity);
  }
  if (workload.processes > 1 || workload.servers > 0) {
    return "with several processes";
  }
  if (workload.towers > 1 && workload.strategy->name != "independent") {
    if (!all_reduces(workload)) {
      return fmt::format("with --variable_update={} on several devices", workload.strategy->name);
    }
    if (workload.compact) {
      return "with --compact_gradient_transfer";
    }
  }
  return "";
}

}  // namespace

Graph build_run_network(const Workload& workload, std::int64_t batch) {
  return build_network(*workload.model,
                       {.batch = batch,
                        .first_image = (workload.towers_before() + workload.tower) * batch,
                        .num_classes = workload.num_classes,
                        .image_size = workload.image_size,
                        .dtype = accumulation_type(workload.dtype),
                        .training = workload.training(),
                        .accuracies = workload.accuracies(),
                        .aux_head = workload.aux_head,
                        .label_smoothing = workload.label_smoothing,
                        .weight_decay = workload.optimizer.weight_decay,
                        .biases_decay = !std::holds_alternative<LarsRule>(workload.optimizer.rule),
                        .seed = workload.seed});
}

std::vector<FoldedBatchNorm> run_folds(const Workload& workload) {
  return workload.frozen() ? fold_batch_norm(build_run_network(workload, 1)).folds
                           : std::vector<FoldedBatchNorm>();
}

Graph build_float_graph(const Workload& workload, const Backend& backend, std::int64_t batch) {
  return make_float_graph(workload, backend, build_run_network(workload, batch));
}

Graph make_run_graph(const RunSettings& settings, const Backend& backend, Graph network) {
  Graph fused = make_float_graph(settings.workload, backend, std::move(network));
  if (!settings.workload.training()) {
    return fused;
  }
  const SupportQuery supports = supported_by(backend);
  // Convolutions that return statistics, with or without a batch norm before them, do not repeat.
  const bool fuses_batch_norm =
      settings.execution.gpu.conv_statistics && !settings.execution.deterministic;
  if (fuses_batch_norm) {
    fused = fuse_batch_norm(fused, supports);
  }
  Graph graph = add_backward(gather_moving_averages(fused), "loss");
  // Readers in NCHW would each normalize in a separate pass and save nothing.
  if (fuses_batch_norm && settings.execution.gpu.conv_prologue &&
      settings.execution.format != DataFormat::nchw) {
    graph = normalize_where_read(graph, supports);
  }
  graph = sum_gradients_where_read(graph, supports);
  const bool sparse = !settings.execution.dense_gradients && backend.supports_sparse_gradients() &&
                      why_tables_are_dense(settings).empty();
  return sparse ? mark_sparse_gradients(graph) : graph;
}

std::string why_gradients_are_dense(const RunSettings& settings) {
  Workload workload = settings.workload;
  workload.num_classes = own_classes(*workload.model, *workload.dataset);
  const Graph network = build_run_network(workload, 1);
  const bool has_table =
      std::ranges::any_of(network.nodes(), [](const Node& node) { return node.op == &kEmbedding; });
  return has_table
             ? why_tables_are_dense(settings)
             : fmt::format("with --model={}, which has no embedding table", workload.model->name);
}

QuantizedGraph build_quantized_graph(const RunSettings& settings, const Backend& backend,
                                     std::int64_t batch, const Ranges& ranges) {
  QuantizedGraph result =
      quantize(build_float_graph(settings.workload, backend, batch), ranges, supported_by(backend));
  if (result.weights.empty()) {
    const std::string refusal =
        fmt::format("--dtype=int8: --device={} runs no layer of {} in int8",
                    settings.execution.device_label, settings.workload.model->name);
    throw UsageError(result.refusals.empty()
                         ? refusal
                         : fmt::format("{}: {}", refusal, result.refusals.front()));
  }
  return result;
}

Graph build_run_graph(const RunSettings& settings, const Backend& backend, std::int64_t batch) {
  if (settings.workload.int8) {
    const Ranges unknown = unknown_ranges(build_float_graph(settings.workload, backend, batch));
    return build_quantized_graph(settings, backend, batch, unknown).graph;
  }
  return make_run_graph(settings, backend, build_run_network(settings.workload, batch));
}

}  // namespace bench
