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

/// How an op's attributes hold an epilogue, and which parts of one the op can have.
struct EpilogueCarrier {
  const Epilogue& (*get)(const Attributes&) = nullptr;
  /// The same attributes with another epilogue.
  Attributes (*with)(const Attributes&, const Epilogue&) = nullptr;
  bool bias = true;
  bool residual = true;
};

/// That of attributes T with a member `epilogue`.
template <class T>
constexpr EpilogueCarrier carrier_of(bool bias, bool residual) {
  return {.get = [](const Attributes& attributes) -> const Epilogue& {
            return attributes.as<T>().epilogue;
          },
          .with =
              [](const Attributes& attributes, const Epilogue& epilogue) {
                T changed = attributes.as<T>();
                changed.epilogue = epilogue;
                return Attributes(changed);
              },
          .bias = bias,
          .residual = residual};
}

/// Throws unless the epilogue's inputs, which begin at `first`, fit a result of that shape.
void check_epilogue(const OpContext& context, const Epilogue& epilogue, std::size_t first,
                    const Shape& result);

/// Appends the epilogue as nodes of its own behind `result`. `inputs` are the epilogue's.
ValueId decompose_epilogue(Graph& graph, const Epilogue& epilogue, const std::string& name,
                           ValueId result, std::span<const ValueId> inputs);

}  // namespace bench
