#pragma once

#include <iosfwd>

#include "models/ops/activation.h"

namespace bench {

/// What a producing op does to its result before it is written: add a bias per channel, add a
/// residual of the result's shape, then activate. Each present part but the activation is one more
/// input, in this order.
struct Epilogue {
  bool bias = false;
  bool residual = false;
  ActivationKind activation = ActivationKind::none;
  bool operator==(const Epilogue&) const = default;

  [[nodiscard]] bool empty() const { return *this == Epilogue{}; }
  [[nodiscard]] std::size_t inputs() const { return (bias ? 1U : 0U) + (residual ? 1U : 0U); }
};
std::ostream& operator<<(std::ostream& out, const Epilogue& epilogue);

/// Throws unless the epilogue's inputs, which begin at `first`, fit a result of that shape.
void check_epilogue(const OpContext& context, const Epilogue& epilogue, std::size_t first,
                    const Shape& result);

/// Appends the epilogue as nodes of its own behind `result`. `inputs` are the epilogue's.
ValueId decompose_epilogue(Graph& graph, const Epilogue& epilogue, const std::string& name,
                           ValueId result, std::span<const ValueId> inputs);

}  // namespace bench
