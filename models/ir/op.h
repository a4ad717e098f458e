#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "models/ir/graph.h"

namespace bench {

/// Input of a shape rule: the node's name and attributes and the types of its inputs.
struct OpContext {
  std::string_view op;
  std::string_view node;
  const Attributes& attributes;
  std::span<const TensorType> inputs;
};

/// Input of a gradient rule. The rule appends nodes to `graph` and returns one value per input of
/// `node`. The value is invalid if no gradient flows or none is wanted.
struct GradientContext {
  Graph& graph;
  const Node& node;
  /// One per output of `node`; invalid if nothing depends on that output.
  std::span<const ValueId> output_gradients;
  /// Returns true if the gradient of that input is wanted.
  std::function<bool(std::size_t)> wanted;
};

/// Work of a node: the multiply-adds (convolutions and fully connected layers only), and the bytes
/// that it reads and writes.
struct Work {
  std::int64_t multiply_adds = 0;
  /// Those that a kernel can avoid: products with zeros of the padding, or those that its algorithm
  /// saves.
  std::int64_t avoidable_multiply_adds = 0;
  std::int64_t bytes = 0;
};

/// How an op treats values of type u8 and s8.
enum class Quanta : std::uint8_t {
  /// Accepts none.
  refused,
  /// Selects or moves elements or averages them: quanta in, quanta of the same scale out.
  passed_on,
  /// Operates on quanta by design.
  own,
};

/// Defined in models/ops/epilogue.h.
struct EpilogueCarrier;

/// One operation: a shape rule and, if they exist, a gradient rule, a multiply-add count and the
/// unfused graph of a fused form. It also holds the facts that passes and devices need, so that
/// none of them lists ops. There is one static object per op; ops are compared by address.
struct OpDef {
  std::string_view name;
  std::vector<TensorType> (*infer)(const OpContext&) = nullptr;
  std::vector<ValueId> (*gradient)(GradientContext&) = nullptr;
  std::int64_t (*multiply_adds)(const Graph&, const Node&) = nullptr;
  /// Bytes that a node moves; null: those of its inputs and outputs.
  std::int64_t (*bytes)(const Graph&, const Node&) = nullptr;
  /// Null if the op has no padding.
  std::int64_t (*multiply_adds_of_padding)(const Graph&, const Node&) = nullptr;
  /// `fused` returns true if a node has an epilogue or another fused part. `decompose` appends the
  /// unfused parts of such a node to the graph and returns the values for the node's outputs.
  bool (*fused)(const Node&) = nullptr;
  std::vector<ValueId> (*decompose)(Graph&, const Node&) = nullptr;
  /// How a node stores an epilogue; null if it cannot have one.
  const EpilogueCarrier* epilogue = nullptr;
  /// True if mixed precision uses 16 bits here; losses and averages need more digits.
  bool computes_in_16_bits = true;
  /// True if mixed precision leaves the inputs in the types that they have.
  bool keeps_width = false;
  Quanta quanta = Quanta::refused;
  /// True if the result is signed only if an input is; always so where quanta are passed on.
  bool keeps_sign = false;
  /// True if the op only converts its input to another type, as a device's reorders can.
  bool converts = false;
};

/// Bytes of a value's elements; 0 if it is opaque.
std::int64_t bytes_of(const TensorType& type);
Work work_of(const Graph& graph, const Node& node);

/// Multiply-adds of all convolutions and fully connected layers of the graph.
std::int64_t multiply_adds(const Graph& graph);

/// Two extents that must be equal: `the input has` 64 `channels`, `the weights expect` 32, axis
/// `C`.
struct ExtentMatch {
  std::string_view subject;
  std::int64_t given = 0;
  std::string_view unit;
  std::string_view other;
  std::int64_t expected = 0;
  std::string_view axis;
};
/// Throws UsageError unless both are equal:
/// `conv2d: the input has 64 channels, but the weights expect 32 (axis C of block2/conv1)`.
void require_extent(const OpContext& context, const ExtentMatch& match);
/// Throws UsageError unless the inputs at both positions have the same shape.
void require_same_shape(const OpContext& context, std::size_t a, std::size_t b);
/// Throws UsageError unless input `index` has this rank.
void require_rank(const OpContext& context, std::size_t index, std::size_t rank);
/// Throws UsageError unless input `index` has rank 2 (a matrix) or 4 (images).
void require_channels(const OpContext& context, std::size_t index);
/// Throws InternalError unless the node has `count` inputs.
void require_inputs(const OpContext& context, std::size_t count);

}  // namespace bench
