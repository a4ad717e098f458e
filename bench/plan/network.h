#pragma once

#include "bench/plan/settings.h"
#include "kernels/backend.h"
#include "models/passes/fold_batch_norm.h"

namespace bench {

/// The plain forward network of a run.
Graph build_run_network(const RunSettings& settings, std::int64_t batch);

/// What --freeze_when_forward_only folds into the convolutions of that network; none without it.
std::vector<FoldedBatchNorm> run_folds(const RunSettings& settings);

/// The network folded and fused, without gradients, in the run's floating type.
Graph build_float_graph(const RunSettings& settings, const Backend& backend, std::int64_t batch);

/// A plain network as the backend runs it in floating numbers: folded where asked for and fused,
/// and when training with its gradients.
Graph make_run_graph(const RunSettings& settings, const Backend& backend, Graph network);

/// The network as the backend runs it, in int8 with unknown ranges, which is good for planning:
/// folded and fused, and when training with its gradients.
Graph build_run_graph(const RunSettings& settings, const Backend& backend, std::int64_t batch);

}  // namespace bench
