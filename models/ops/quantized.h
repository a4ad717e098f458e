#pragma once

#include <iosfwd>

#include "models/ops/conv2d.h"
#include "models/ops/fully_connected.h"

namespace bench {

// Ops for inference in u8 and s8. A quantised value represents real numbers x = q * scale; its zero
// is exactly 0, so that padding costs nothing. The scale is an attribute of the nodes that read or
// write the value, not part of its type. Ops that only move or select elements (pooling, concat,
// slices) run on u8 and s8 unchanged, if all their values share one scale.

/// Returns true if values of the type are quantised.
constexpr bool is_quantized(DType dtype) { return dtype == DType::u8 || dtype == DType::s8; }

/// The limits of a quantised type.
constexpr double lowest_of(DType dtype) { return dtype == DType::u8 ? 0 : -128; }
constexpr double highest_of(DType dtype) { return dtype == DType::u8 ? 255 : 127; }

struct QuantizeAttributes {
  double scale = 1;
  DType dtype = DType::s8;
  bool operator==(const QuantizeAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const QuantizeAttributes& attributes);

/// (x) -> x / scale, rounded to nearest, ties to even, clamped to the limits of `dtype`.
extern const OpDef kQuantize;

struct DequantizeAttributes {
  double scale = 1;
  bool operator==(const DequantizeAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const DequantizeAttributes& attributes);

/// (q) -> q * scale, in f32.
extern const OpDef kDequantize;
/// (q[N,C,H,W]) -> scale times the mean over H and W, in f32. The mean of many quanta is finer than
/// one quantum. Attributes as for kDequantize.
extern const OpDef kQuantizedSpatialMean;

/// The result type of a quantised op: real numbers in f32, or quanta of `scale` in u8 or s8, as
/// kQuantize produces them.
struct QuantizedOutput {
  DType dtype = DType::f32;
  double scale = 1;
  bool operator==(const QuantizedOutput&) const = default;
};
std::ostream& operator<<(std::ostream& out, const QuantizedOutput& output);

struct QuantizedConv2dAttributes {
  Conv2dAttributes conv = {};
  double input_scale = 1;
  /// The scale of the epilogue's residual, if it has a quantised one.
  double residual_scale = 1;
  QuantizedOutput output = {};
  bool operator==(const QuantizedConv2dAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const QuantizedConv2dAttributes& attributes);

/// (x[N,C,H,W] u8|s8, w[O,C/groups,KH,KW] s8, weight scales[O] f32, epilogue inputs) ->
/// y[N,O,H',W']. The bias is f32 [O]. The residual is quantised if y is, else f32. The sums over u8
/// or s8 times s8 are exact. The rest is computed on real numbers: times both scales, bias,
/// residual, activation, and finally the output.
extern const OpDef kQuantizedConv2d;

struct QuantizedFullyConnectedAttributes {
  FullyConnectedAttributes layer = {};
  double input_scale = 1;
  QuantizedOutput output = {};
  bool operator==(const QuantizedFullyConnectedAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const QuantizedFullyConnectedAttributes& attributes);

/// (x[N,I] u8|s8, w[O,I] s8, weight scales[O] f32, [bias[O] f32]) -> y[N,O]; like kQuantizedConv2d.
extern const OpDef kQuantizedFullyConnected;

struct QuantizedAddAttributes {
  double first_scale = 1;
  double second_scale = 1;
  QuantizedOutput output = {};
  bool operator==(const QuantizedAddAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const QuantizedAddAttributes& attributes);

/// (a, b) u8|s8 -> the sum of the real numbers.
extern const OpDef kQuantizedAdd;

}  // namespace bench
