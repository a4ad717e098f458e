#pragma once

#include <string_view>

#include "kernels/backend.h"
#include "models/passes/backward.h"
#include "models/passes/fuse.h"
#include "models/passes/fuse_batch_norm.h"
#include "models/passes/gather_averages.h"
#include "models/passes/gradient_sums.h"
#include "models/passes/mixed_precision.h"
#include "models/passes/normalize_where_read.h"
#include "models/zoo/zoo.h"

namespace bench {

/// The training graph of a network with a batch of two images.
inline Graph training_graph(std::string_view model, DType dtype, const Backend& backend) {
  const SupportQuery supports = [&](const Graph& graph, const Node& node) {
    return backend.supports(graph, node);
  };
  constexpr std::int64_t kBatch = 2;
  Graph network = build_network(*find_model(model), {.batch = kBatch, .weight_decay = 1e-4});
  if (is_half(dtype)) {
    network = mixed_precision(network, dtype, Weights16::cast);
  }
  const Graph fused = fuse_batch_norm(fuse(network, supports), supports);
  const Graph trained =
      normalize_where_read(add_backward(gather_moving_averages(fused), "loss"), supports);
  return sum_gradients_where_read(trained, supports);
}

}  // namespace bench
