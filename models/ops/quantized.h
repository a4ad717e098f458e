#pragma once

#include <iosfwd>

#include "models/ops/conv2d.h"
#include "models/ops/fully_connected.h"

namespace bench {

// Ops for inference in u8 and s8. A quantised value stands for real numbers x = q * scale; its zero
// is exactly 0, so that padding costs nothing. The scale is no part of a value's type: whoever
// reads or writes one has it as an attribute. Ops that only move or select elements (pooling,
// concat, slices) run on u8 and s8 as they are, if all their values share one scale.

/// Whether values of the type are quantised.
constexpr bool is_quantized(DType dtype) { return dtype == DType::u8 || dtype == DType::s8; }

/// The ends of a quantised type.
constexpr double lowest_of(DType dtype) { return dtype == DType::u8 ? 0 : -128; }
constexpr double highest_of(DType dtype) { return dtype == DType::u8 ? 255 : 127; }

struct QuantizeAttributes {
  double scale = 1;
  DType dtype = DType::s8;
  bool operator==(const QuantizeAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const QuantizeAttributes& attributes);

/// (x) -> x / scale, rounded to nearest, ties to even, cut at the ends of `dtype`.
extern const OpDef kQuantize;

struct DequantizeAttributes {
  double scale = 1;
  bool operator==(const DequantizeAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const DequantizeAttributes& attributes);

/// (q) -> q * scale, in f32.
extern const OpDef kDequantize;
/// (q[N,C,H,W]) -> scale times the mean over H and W, in f32: the mean of many quanta is finer than
/// one of them. Attributes as kDequantize.
extern const OpDef kQuantizedSpatialMean;

/// What a quantised op writes: real numbers in f32, or quanta of `scale` in u8 or s8, as kQuantize
/// makes them.
struct QuantizedOutput {
  DType dtype = DType::f32;
  double scale = 1;
  bool operator==(const QuantizedOutput&) const = default;
};
std::ostream& operator<<(std::ostream& out, const QuantizedOutput& output);

struct QuantizedConv2dAttributes {
  Conv2dAttributes conv = {};
  double input_scale = 1;
  /// Of the epilogue's residual, where it has one and that is quantised.
  double residual_scale = 1;
  QuantizedOutput output = {};
  bool operator==(const QuantizedConv2dAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const QuantizedConv2dAttributes& attributes);

/// (x[N,C,H,W] u8|s8, w[O,C/groups,KH,KW] s8, weight scales[O] f32, bias[O] f32 and residual as the
/// epilogue says) -> y[N,O,H',W']. The residual is quantised if y is, else f32. The sums over u8 or
/// s8 times s8 are exact; what follows is computed on real numbers: times both scales, bias,
/// residual, activation, and the output last.
extern const OpDef kQuantizedConv2d;

struct QuantizedFullyConnectedAttributes {
  FullyConnectedAttributes layer = {};
  double input_scale = 1;
  QuantizedOutput output = {};
  bool operator==(const QuantizedFullyConnectedAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const QuantizedFullyConnectedAttributes& attributes);

/// (x[N,I] u8|s8, w[O,I] s8, weight scales[O] f32, [bias[O] f32]) -> y[N,O]; as the convolution.
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
