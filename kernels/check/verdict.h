#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kernels/check/canonical_reader.h"
#include "models/ir/graph.h"

namespace bench {

/// What one kernel of a plan wrote, beside what the reference makes of what that kernel read.
struct CheckedKernel {
  /// "conv2d layer1.0.conv2".
  std::string name;
  /// The norm of the difference as a share of the result's norm, or the largest difference as a
  /// share of the largest element, whichever is nearer to its limit.
  double deviation = 0;
  double tolerance = 0;
};

struct Distance {
  double norm = 0;
  double largest = 0;
};

/// Of what was measured from `factor` times what was expected, and of the latter from 0.
struct Distances {
  Distance difference;
  Distance result;
};

/// `measured` is f32 or f64.
Distances distances(const HostTensor& measured, std::span<const double> expected, double factor);
Distances distances(std::span<const double> measured, std::span<const double> expected);

/// A few roundings of the type in which sums are made of elements of `dtype`.
double moved_share(DType dtype);
/// The same of a kernel that rounds to `dtype` what is between its parts, of which no output tells:
/// of a normalised tensor and its factors, one rounding each.
double moved_share_between(DType dtype);
/// By what share each input of a node is to be moved to see how far rounding carries in an output
/// of `dtype`: by moved_share(), but by moved_share_between() what a prologue reads.
std::vector<double> moved_shares(const Graph& graph, const Node& node, DType dtype);

/// What of a result of so many elements is compared: the sharper of norm and largest element,
/// against what rounding to `dtype` may do. `moved` is how far a result moves when its inputs do,
/// by moved_shares(); where terms cancel that is what rounding carries.
CheckedKernel judge(const Distances& found, const Distance& moved, DType dtype,
                    std::size_t elements);

}  // namespace bench
