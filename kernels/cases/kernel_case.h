#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/base/philox.h"
#include "models/ir/op.h"

namespace bench {

/// Channel counts for ops that process a tensor channel by channel. They include grey and coloured
/// images, partly filled vectors, and full vectors.
constexpr std::array<std::int64_t, 4> kChannelCounts{1, 3, 20, 64};

/// How the elements of an input are drawn. Every drawn value is an f32 number.
struct InputFill {
  enum class Kind : std::uint8_t {
    /// mean + scale * standard normal.
    normal,
    /// mean + scale * |standard normal|: variances.
    positive,
    /// Either sign, at least scale / 8 away from 0: for functions with a kink there.
    away_from_zero,
    /// Whole numbers in [-scale, scale]: sums stay exact.
    integers,
    /// All different, evenly spaced over [mean - scale, mean + scale), in random order: no ties.
    distinct,
    /// Whole numbers in [0, scale): labels.
    labels,
    /// The same, but 0, the class of most anchors in an image, has a probability of 4 in 5.
    mostly_background,
    /// mean everywhere.
    constant,
  };
  Kind kind = Kind::normal;
  double mean = 0;
  double scale = 1;
};

/// `count` elements drawn from the stream.
std::vector<double> draw(const InputFill& fill, std::int64_t count, RandomStream& random);

/// Numbers as elements of a type: f32, f64, s32, u8 or s8.
std::vector<std::byte> to_bytes(DType dtype, std::span<const double> values);

/// One op with attributes and inputs, for conformance and gradient tests and for benchmarks. The
/// inputs' floating types are f32; a test may replace them. A gradient flows only into the first
/// output, and only if there is a gradient rule.
struct KernelCase {
  /// Unique among all cases; letters, digits and underscores.
  std::string name;
  const OpDef* op = nullptr;
  Attributes attributes = {};
  std::vector<TensorType> inputs = {};
  /// One per input.
  std::vector<InputFill> fills = {};
  /// Positions of the inputs that a model would hold as variables.
  std::vector<std::size_t> weights = {};
  /// Positions of the floating inputs that receive no gradient.
  std::vector<std::size_t> constants = {};
  /// True if every correct implementation gives the same numbers: sums are exact, or one rounding
  /// of the true result.
  bool exact = false;
  /// False if the case has ties or zeros at a kink, where finite differences do not apply.
  bool smooth = true;
  /// False if the op has a gradient rule, but not for such a node.
  bool gradients = true;
  /// Length of the longest sum in one element of an output or a gradient.
  std::int64_t reduction = 1;
  /// Allowed error, relative to the element plus the root mean square of its tensor. The unit is
  /// the type's epsilon times the square root of `reduction`.
  double epsilons = 8;
  /// Additional absolute error: for results in u8 and s8, 1 if a rounding may go either way.
  double quanta = 0;
};

/// Prints the name, for tests' messages.
std::ostream& operator<<(std::ostream& out, const KernelCase& kernel_case);

}  // namespace bench
