#pragma once

#include <iosfwd>

#include "models/ir/op.h"

namespace bench {

enum class ActivationKind : std::uint8_t { none, relu };
std::ostream& operator<<(std::ostream& out, ActivationKind kind);

struct ActivationAttributes {
  ActivationKind kind = ActivationKind::relu;
  bool operator==(const ActivationAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const ActivationAttributes& attributes);

/// (x) -> f(x), any shape.
extern const OpDef kActivation;
/// (dy, y) -> dx, from the output y: for ReLU dx = y > 0 ? dy : 0.
extern const OpDef kActivationBackward;

}  // namespace bench
