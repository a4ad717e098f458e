#pragma once

#include "bench/plan/settings.h"
#include "kernels/backend.h"
#include "models/passes/fold_batch_norm.h"
#include "models/passes/quantize.h"

namespace bench {

/// Builds the plain forward network of a run.
Graph build_run_network(const Workload& workload, std::int64_t batch);

/// The batch norms that --freeze_when_forward_only folds into convolutions; empty without it.
std::vector<FoldedBatchNorm> run_folds(const Workload& workload);

/// Builds the folded and fused network without gradients, in the run's floating-point type.
Graph build_float_graph(const Workload& workload, const Backend& backend, std::int64_t batch);

/// Prepares a plain network for the backend in floating point: fused, folded if requested, with
/// gradients when training.
Graph make_run_graph(const RunSettings& settings, const Backend& backend, Graph network);

/// Why the gradients of embedding tables are dense in training, as in "with --staged_vars"; empty
/// if they can be sparse.
std::string why_gradients_are_dense(const RunSettings& settings);

/// Builds the network of a --dtype=int8 run for a batch, with these ranges. Throws UsageError with
/// the reason if the device runs none of its layers in int8.
QuantizedGraph build_quantized_graph(const RunSettings& settings, const Backend& backend,
                                     std::int64_t batch, const Ranges& ranges);

/// Builds the network as the backend runs it: fused, folded if requested, with gradients when
/// training. In int8 its ranges are unknown, which is sufficient for planning.
Graph build_run_graph(const RunSettings& settings, const Backend& backend, std::int64_t batch);

}  // namespace bench
