#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "models/ir/graph.h"

namespace bench {

/// What a shape rule sees: the node's name and attributes and the types of its inputs.
struct OpContext {
  std::string_view op;
  std::string_view node;
  const Attributes& attributes;
  std::span<const TensorType> inputs;
};

/// What a gradient rule sees. It appends nodes to `graph` and returns one value per input of
/// `node`, an invalid one where no gradient flows or none is wanted.
struct GradientContext {
  Graph& graph;
  const Node& node;
  /// Per output of `node`; invalid where nothing depends on the output.
  std::span<const ValueId> output_gradients;
  /// Whether the gradient of an input is wanted.
  std::function<bool(std::size_t)> wanted;
};

/// Work of a node: multiply-adds of convolutions and fully connected layers only, and the bytes
/// its inputs and outputs hold.
struct Work {
  std::int64_t multiply_adds = 0;
  std::int64_t bytes = 0;
};

/// One operation: a shape rule, and where they exist a gradient rule, a count of multiply-adds and
/// the unfused graph of a fused form. One static object per op; compared by address.
struct OpDef {
  std::string_view name;
  std::vector<TensorType> (*infer)(const OpContext&) = nullptr;
  std::vector<ValueId> (*gradient)(GradientContext&) = nullptr;
  std::int64_t (*multiply_adds)(const Graph&, const Node&) = nullptr;
  /// Whether a node carries an epilogue or another fused part, and the same node made of parts: it
  /// appends them to the graph and returns what stands for the node's outputs.
  bool (*fused)(const Node&) = nullptr;
  std::vector<ValueId> (*decompose)(Graph&, const Node&) = nullptr;
};

/// All ops, from ops.inc.
std::span<const OpDef* const> all_ops();

Work work_of(const Graph& graph, const Node& node);

/// Multiply-adds of all convolutions and fully connected layers of the graph.
std::int64_t multiply_adds(const Graph& graph);

/// Two extents that should be equal: `input has` 64 `channels`, `weights expect` 32, axis `C`.
struct ExtentMatch {
  std::string_view subject;
  std::int64_t given = 0;
  std::string_view unit;
  std::string_view other;
  std::int64_t expected = 0;
  std::string_view axis;
};
/// Throws UsageError unless both are equal:
/// `conv2d: input has 64 channels, weights expect 32 (axis C of block2/conv1)`.
void require_extent(const OpContext& context, const ExtentMatch& match);
/// Throws UsageError unless the inputs at both positions have one shape.
void require_same_shape(const OpContext& context, std::size_t a, std::size_t b);
/// Throws UsageError unless input `index` has the rank.
void require_rank(const OpContext& context, std::size_t index, std::size_t rank);
/// Throws InternalError unless the node has that many inputs.
void require_inputs(const OpContext& context, std::size_t count);

}  // namespace bench
