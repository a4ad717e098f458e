#pragma once

#include <array>
#include <iosfwd>
#include <optional>

#include "models/ops/batch_norm.h"

namespace bench {

/// Stride, dilation and explicit zero padding of a sliding window, each as (H, W). A dilation of 1
/// is a dense filter.
struct Window {
  std::array<std::int64_t, 2> kernel{1, 1};
  std::array<std::int64_t, 2> stride{1, 1};
  std::array<std::int64_t, 2> dilation{1, 1};
  std::array<std::int64_t, 2> pad_before{0, 0};
  std::array<std::int64_t, 2> pad_after{0, 0};
  bool operator==(const Window&) const = default;

  /// Output extent along one axis: floor((in + pads - (dilation*(kernel-1)+1)) / stride) + 1.
  [[nodiscard]] std::int64_t output_extent(std::size_t axis, std::int64_t input) const;
  /// The number of pairs of an output position and a filter element that reads the input, not the
  /// padding.
  [[nodiscard]] std::int64_t inner_taps(std::size_t axis, std::int64_t input) const;
};
std::ostream& operator<<(std::ostream& out, const Window& window);

/// The output extents (H, W); throws UsageError if the window does not fit into the input.
std::array<std::int64_t, 2> output_extents(const OpContext& context, const Window& window,
                                           const Shape& input);

struct Conv2dAttributes {
  Window window = {};
  std::int64_t groups = 1;
  Epilogue epilogue = {};
  /// The batch norm that follows, for training. A kernel for both can compute the statistics while
  /// it writes the convolution's result. The batch norm's epilogue is then the only one.
  std::optional<BatchNormAttributes> batch_norm = {};
  /// Computes only the statistics of the batch norm; readers normalise in their prologue.
  bool statistics_only = false;
  /// A kBatchNormInference that is applied to x first.
  std::optional<BatchNormAttributes> prologue = {};
  bool operator==(const Conv2dAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Conv2dAttributes& attributes);

/// (x[N,C,H,W], w[O,C/groups,KH,KW], epilogue inputs) -> y[N,O,H',W'], cross-correlation;
/// - with a batch norm: (x, w, kBatchNorm's inputs but the first) -> (kBatchNorm's outputs, what it
///   normalised);
/// - with only its statistics: -> (what it would normalise, mean, variance);
/// - with a prologue: the prologue's inputs, but the first, come last.
/// Prologues and lone statistics have no gradient rule: they are added after the backward pass.
extern const OpDef kConv2d;
/// See OpDef::multiply_adds_of_padding: for an input of shape `x` and filters of shape `w`.
std::int64_t multiply_adds_of_padding(const Window& window, const Shape& x, const Shape& w);
/// Position of the tensor that its batch norm normalised.
inline constexpr std::size_t kNormalised = 3;

struct Conv2dBackwardDataAttributes {
  Window window = {};
  std::int64_t groups = 1;
  Shape input = {};
  bool operator==(const Conv2dBackwardDataAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Conv2dBackwardDataAttributes& attributes);

/// (dy, w) -> dx of shape `input`.
extern const OpDef kConv2dBackwardData;

struct Conv2dBackwardWeightsAttributes {
  Window window = {};
  std::int64_t groups = 1;
  Shape weights = {};
  bool bias = false;
  /// The prologue of the convolution.
  std::optional<BatchNormAttributes> prologue = {};
  bool operator==(const Conv2dBackwardWeightsAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Conv2dBackwardWeightsAttributes& attributes);

/// (dy, x) -> dw of shape `weights`, plus the bias's gradient [O] if `bias`. A prologue's inputs,
/// but the first, come last.
extern const OpDef kConv2dBackwardWeights;

/// Returns true if the node is a convolution or a filter gradient with a prologue.
bool has_prologue(const Node& node);
/// The number of inputs that a prologue adds, and their positions in a node with `inputs` inputs.
std::size_t prologue_count(const std::optional<BatchNormAttributes>& prologue);
BatchNormInputs prologue_inputs(const BatchNormAttributes& prologue, std::size_t inputs);

}  // namespace bench
