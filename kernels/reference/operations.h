#pragma once

#include "kernels/reference/tensor.h"
#include "models/ops/activation.h"

namespace bench::reference {

/// The operation of an unfused node of any op. Each op has a function with its name and this
/// signature. The formulas are in the ops' headers in models/ops.
Operation operation_of(const Graph& graph, const Node& node);

// activation.cc
/// f(x), as the op `activation` computes it.
double activate(ActivationKind kind, double x);

}  // namespace bench::reference
