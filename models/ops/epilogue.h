#pragma once

#include <iosfwd>

#include "models/ops/activation.h"

namespace bench {

/// Steps that a producing op applies to its result before writing it. It adds a bias per channel,
/// adds a residual of the result's shape, then activates. Each present part but the activation is
/// one more input, in this order.
struct Epilogue {
  bool bias = false;
  bool residual = false;
  ActivationKind activation = ActivationKind::none;
  bool operator==(const Epilogue&) const = default;

  [[nodiscard]] bool empty() const { return *this == Epilogue{}; }
  [[nodiscard]] std::size_t inputs() const { return (bias ? 1U : 0U) + (residual ? 1U : 0U); }
};
std::ostream& operator<<(std::ostream& out, const Epilogue& epilogue);

/// How an op's attributes store an epilogue, and which parts the op supports.
struct EpilogueCarrier {
  const Epilogue& (*get)(const Attributes&) = nullptr;
  /// The same attributes with a different epilogue.
  Attributes (*with)(const Attributes&, const Epilogue&) = nullptr;
  bool bias = true;
  bool residual = true;
};

/// The carrier for attributes T with a member `epilogue`.
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

/// Throws unless the epilogue's inputs, starting at `first`, fit a result of that shape.
void check_epilogue(const OpContext& context, const Epilogue& epilogue, std::size_t first,
                    const Shape& result);

/// Appends the epilogue as separate nodes after `result`. `inputs` are the epilogue's.
ValueId decompose_epilogue(Graph& graph, const Epilogue& epilogue, const std::string& name,
                           ValueId result, std::span<const ValueId> inputs);

}  // namespace bench
