#pragma once

#include "kernels/reference/tensor.h"
#include "models/ops/activation.h"

namespace bench::reference {

/// That of an unfused node of any op. Each op's is made by a function of the op's name and this
/// signature; the formulas are those of the ops' headers in models/ops.
Operation operation_of(const Graph& graph, const Node& node);

// activation.cc
/// f(x), as the op `activation` computes it.
double activate(ActivationKind kind, double x);

}  // namespace bench::reference
