#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "bench/verify/canonical_reader.h"
#include "models/ir/graph.h"

namespace bench {

/// The comparison of one kernel of a plan with the reference, which had the same inputs.
struct CheckedKernel {
  /// "conv2d layer1.0.conv2".
  std::string name;
  /// The norm of the difference as a share of the result's norm, or the largest difference as a
  /// share of the largest element. It is the one that is nearer to its limit.
  double deviation = 0;
  double tolerance = 0;
};

/// The multiple of the effect of a few roundings that is allowed. A sum of many terms rounds after
/// each, and kernels for narrow vectors add thousands in a row.
inline constexpr double kMovedTimes = 64;

struct Distance {
  double norm = 0;
  double largest = 0;
};

/// The distance from `factor` times the expectation to the measurement, and of the former to 0.
struct Distances {
  Distance difference;
  Distance result;
};

/// `measured` is f32 or f64.
Distances distances(const HostTensor& measured, std::span<const double> expected, double factor);
Distances distances(std::span<const double> measured, std::span<const double> expected);

/// A few roundings of the type that accumulates elements of `dtype`.
double moved_share(DType dtype);
/// The same for a kernel that rounds to `dtype` between its parts, which no output shows. That is
/// one rounding each for a normalised tensor and its factors.
double moved_share_between(DType dtype);
/// The distance by which to move a number: its share and an absolute step.
struct Move {
  double share = 0;
  double step = 0;
  bool operator==(const Move&) const = default;
};
/// The moves of each input of a node, to find how far rounding propagates to an output of `dtype`.
/// The share is moved_share(), or moved_share_between() for inputs of a prologue and for gradients
/// that a residual receives. If `copies_differ`, the node adds up copies of images that were
/// rounded differently before. An input in 16 bits then moves by a rounding.
std::vector<Move> moves_of(const Graph& graph, const Node& node, DType dtype, bool copies_differ);

/// Compares a result of `elements` elements with the rounding that `dtype` allows, by norm or
/// largest element, whichever is stricter. `moved` is the change of the result if its inputs move
/// by moves_of(). Where terms cancel, that is the effect of rounding.
CheckedKernel judge(const Distances& found, const Distance& moved, DType dtype,
                    std::size_t elements);

}  // namespace bench
