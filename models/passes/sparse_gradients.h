#pragma once

#include "models/ir/graph.h"

namespace bench {

/// Marks the gradients of tables as sparse (EmbeddingBackwardAttributes) where nothing but the
/// update of a variable uses them. Runs after the backward pass.
Graph mark_sparse_gradients(const Graph& graph);

}  // namespace bench
