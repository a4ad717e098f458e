#pragma once

#include <iosfwd>
#include <string_view>

#include "models/ir/op.h"

namespace bench {

/// relu6(x) = min(max(x, 0), 6); hard_sigmoid(x) = relu6(x + 3) / 6; silu(x) = x * sigmoid(x);
/// hard_swish(x) = x * hard_sigmoid(x).
enum class ActivationKind : std::uint8_t {
  none,
  relu,
  relu6,
  sigmoid,
  tanh,
  hard_sigmoid,
  silu,
  hard_swish
};
std::string_view name_of(ActivationKind kind);
std::ostream& operator<<(std::ostream& out, ActivationKind kind);

/// Returns true if the derivative is a function of the output; otherwise it needs the input.
constexpr bool derivative_from_output(ActivationKind kind) {
  return kind != ActivationKind::silu && kind != ActivationKind::hard_swish;
}

struct ActivationAttributes {
  ActivationKind kind = ActivationKind::relu;
  bool operator==(const ActivationAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const ActivationAttributes& attributes);

/// (x) -> f(x), any shape.
extern const OpDef kActivation;
/// (dy, v) -> dx = dy * f'. Here v is the output y if derivative_from_output, else the input x. At
/// a kink the derivative is 0: ReLU's is y > 0, ReLU6's 0 < y < 6, hard-sigmoid's 0 < y < 1 (times
/// 1/6), hard-swish's 0 up to x = -3 and 1 from x = 3 on.
extern const OpDef kActivationBackward;

}  // namespace bench
