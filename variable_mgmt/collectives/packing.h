#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/base/dtype.h"

namespace bench {

/// Tensors first..last.
struct IndexRange {
  std::size_t first = 0;
  std::size_t last = 0;
  bool operator==(const IndexRange&) const = default;
};
struct ExtractedRanges {
  std::vector<IndexRange> ranges;
  std::vector<std::size_t> singles;
  bool operator==(const ExtractedRanges&) const = default;
};

/// Splits rising indices into ranges without gaps and single indices. A range grows as long as last
/// - first is at most `limit`, so it can have limit + 2 indices, as in tf_cnn_benchmarks.
constexpr std::size_t kDefaultRangeLimit = 32;
ExtractedRanges extract_ranges(std::span<const std::size_t> indices,
                               std::size_t limit = kDefaultRangeLimit);

/// Elements of one tensor.
struct PackedPart {
  std::size_t tensor = 0;
  std::size_t begin = 0;
  std::size_t count = 0;
  bool operator==(const PackedPart&) const = default;
};
/// Parts that are reduced as one, in order.
using Pack = std::vector<PackedPart>;
std::size_t elements_of(const Pack& pack);

/// What packing needs to know of a gradient.
struct GradientSize {
  std::size_t elements = 0;
  DType dtype = DType::f32;
};

/// --agg_small_grads_max_bytes and --agg_small_grads_max_group.
struct SmallGradients {
  std::int64_t max_bytes = 0;
  std::int64_t max_group = 10;
};

/// Packs consecutive f32 gradients of at most max_bytes each. The packs come first, then the other
/// gradients in order. If a limit is 0 or less, each gradient is alone.
std::vector<Pack> pack_small(std::span<const GradientSize> gradients, const SmallGradients& limits);

/// --gradient_repacking: concatenates all gradients and cuts them into `packs` of total / packs
/// elements; the last takes the remainder. Throws UsageError if `packs` is below one or larger than
/// the number of elements.
std::vector<Pack> repack(std::span<const GradientSize> gradients, int packs);

/// A range of bytes of a flat region.
struct FlatPiece {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  [[nodiscard]] std::size_t end() const { return offset + bytes; }
  bool operator==(const FlatPiece&) const = default;
};

/// The range of a pack in a region that holds the gradients in order, perhaps with gaps between
/// them. It extends from the pack's first part to its last. So packing copies nothing, and gaps are
/// reduced too. Throws InternalError if the pack's parts are not in the region's order.
FlatPiece piece_of(const Pack& pack, std::span<const FlatPiece> gradients, DType dtype);

}  // namespace bench
