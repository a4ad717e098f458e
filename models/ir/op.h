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

/// What an op does with values of u8 and s8.
enum class Quanta : std::uint8_t {
  /// It takes none.
  refused,
  /// It selects or moves elements or takes their mean: quanta in, quanta of the same scale out.
  passed_on,
  /// They are what it is for.
  own,
};

/// In models/ops/epilogue.h.
struct EpilogueCarrier;

/// One operation: a shape rule, and where they exist a gradient rule, a count of multiply-adds and
/// the unfused graph of a fused form; besides them what passes and devices have to know of it, so
/// that none of them lists ops. One static object per op; compared by address.
struct OpDef {
  std::string_view name;
  std::vector<TensorType> (*infer)(const OpContext&) = nullptr;
  std::vector<ValueId> (*gradient)(GradientContext&) = nullptr;
  std::int64_t (*multiply_adds)(const Graph&, const Node&) = nullptr;
  /// Whether a node carries an epilogue or another fused part, and the same node made of parts: it
  /// appends them to the graph and returns what stands for the node's outputs.
  bool (*fused)(const Node&) = nullptr;
  std::vector<ValueId> (*decompose)(Graph&, const Node&) = nullptr;
  /// How a node carries an epilogue; null where it carries none.
  const EpilogueCarrier* epilogue = nullptr;
  /// Whether mixed precision gives it 16 bits; losses and averages need more digits.
  bool computes_in_16_bits = true;
  Quanta quanta = Quanta::refused;
  /// Whether its result has a sign only where an input has one; so it is where quanta are passed
  /// on.
  bool keeps_sign = false;
  /// Whether it gives its input in another type and does nothing else, as a device's reorders can.
  bool converts = false;
};

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
