#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/passes/rewrite.h"

namespace bench {

/// The interval that a value is expected to stay in; numbers outside are clamped.
struct Range {
  double low = 0;
  double high = 0;
  bool operator==(const Range&) const = default;
};
/// Keyed by the value's name.
using Ranges = std::map<std::string, Range>;

/// The values whose ranges quantize() may ask for.
std::vector<ValueId> values_with_range(const Graph& graph);

/// Placeholder ranges for a graph that is planned and never run.
Ranges unknown_ranges(const Graph& graph);

/// A weight that became s8, and the new variable with its scales. Scale o is the largest magnitude
/// of the weights w[o] of output channel o, over 127. The variable with the weight's name holds
/// w[o] / scale.
struct QuantizedWeight {
  std::string weight;
  std::string scales;
  std::int64_t channels = 0;
  bool operator==(const QuantizedWeight&) const = default;
};

struct QuantizedGraph {
  Graph graph;
  std::vector<QuantizedWeight> weights;
  /// Why the device runs quantisable layers in f32, one sentence for each.
  std::vector<std::string> refusals;
};

/// Quantises a graph for inference, after fold_batch_norm, fuse and fuse_concat:
/// - convolutions and fully connected layers read u8 or s8 if the device supports it;
/// - they write u8 or s8 if the next reader wants it;
/// - adds, pooling, concat and other ops that move elements run between them in u8 and s8 too;
/// - a batch norm that no convolution absorbed writes u8 or s8 if all its readers want it;
/// - everything else computes in f32 between a dequantize and a quantize.
///
/// A value is u8 if an activation makes it non-negative, else s8. Values that join in a concat or
/// pass through pooling share one scale. These stay in f32: smooth activations (silu, sigmoid,
/// ...), the network's outputs, and convolutions over a single pixel (squeeze and excite). The
/// latter cost nothing and scale every pixel. Throws InternalError for a value without a range.
QuantizedGraph quantize(const Graph& graph, const Ranges& ranges, const SupportQuery& supports);

}  // namespace bench
