#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/passes/rewrite.h"

namespace bench {

/// The numbers that a value is expected to take; what lies outside is cut.
struct Range {
  double low = 0;
  double high = 0;
  bool operator==(const Range&) const = default;
};
/// By the value's name.
using Ranges = std::map<std::string, Range>;

/// The values whose ranges quantize() may ask for.
std::vector<ValueId> values_with_range(const Graph& graph);

/// Ranges that say nothing, for a graph that is only planned and never run.
Ranges unknown_ranges(const Graph& graph);

/// A weight that became s8, and the new variable with its scales: per output channel o the largest
/// magnitude of the weights w[o] over 127; the variable of the weight's name holds w[o] / scale.
struct QuantizedWeight {
  std::string weight;
  std::string scales;
  std::int64_t channels = 0;
  bool operator==(const QuantizedWeight&) const = default;
};

struct QuantizedGraph {
  Graph graph;
  std::vector<QuantizedWeight> weights;
  /// Why the device runs layers in f32 that could be quantised, one sentence for each.
  std::vector<std::string> refusals;
};

/// For inference, behind fold_batch_norm and fuse: convolutions and fully connected layers that the
/// device supports so read u8 or s8 and write it where the next reader wants it; adds, pooling,
/// concat and what else moves elements run between them in u8 and s8 too; everything else computes
/// in f32 between a dequantize and a quantize. A value is u8 where an activation makes it
/// non-negative, else s8. Values that meet in a concat or go through a pooling share one scale.
/// In f32 stay: activations that bend (silu, sigmoid, ...), convolutions over a single pixel
/// (squeeze and excite), which cost nothing and scale every pixel, and the network's outputs.
/// Throws InternalError for a value without a range.
QuantizedGraph quantize(const Graph& graph, const Ranges& ranges, const SupportQuery& supports);

}  // namespace bench
