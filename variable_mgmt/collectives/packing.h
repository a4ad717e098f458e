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

/// Rising indices as ranges without gaps and what stays alone. A range goes on while last - first
/// is at most `limit` before it does: it has up to limit + 2 indices, as in tf_cnn_benchmarks.
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
/// What is reduced as one: parts one behind the other.
using Pack = std::vector<PackedPart>;
std::size_t elements_of(const Pack& pack);

/// A gradient, as packing sees it.
struct GradientSize {
  std::size_t elements = 0;
  DType dtype = DType::f32;
};

/// --agg_small_grads_max_bytes and --agg_small_grads_max_group.
struct SmallGradients {
  std::int64_t max_bytes = 0;
  std::int64_t max_group = 10;
};

/// f32 gradients of at most max_bytes that follow each other are one pack; these come first, then
/// the others in order. Each is alone where a limit is 0 or less.
std::vector<Pack> pack_small(std::span<const GradientSize> gradients, const SmallGradients& limits);

/// --gradient_repacking: all gradients behind each other, cut into `packs` of total / packs
/// elements, of which the last takes the remainder. Throws UsageError for fewer than one and for
/// more than there are elements.
std::vector<Pack> repack(std::span<const GradientSize> gradients, int packs);

/// Bytes of a flat region.
struct FlatPiece {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  [[nodiscard]] std::size_t end() const { return offset + bytes; }
  bool operator==(const FlatPiece&) const = default;
};

/// Where a pack lies in a region that has the gradients in order, with gaps between them at most:
/// from its first part to its last. So nothing is copied to pack it; gaps are reduced too.
/// Throws InternalError for a pack whose parts are not in the region's order.
FlatPiece piece_of(const Pack& pack, std::span<const FlatPiece> gradients, DType dtype);

}  // namespace bench
