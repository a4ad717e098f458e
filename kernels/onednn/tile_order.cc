#include "kernels/onednn/tile_order.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace bench::onednn {
namespace {

using dnnl::memory;

/// How a blocked tensor's axes are cut: what stands innermost in memory is a tile.
struct Blocks {
  explicit Blocks(const memory::desc& desc)
      : sizes(desc.get_inner_blks()),
        axes(desc.get_inner_idxs()),
        of_axis(static_cast<std::size_t>(desc.get_ndims()), 1),
        strides(desc.get_strides()) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      of_axis[static_cast<std::size_t>(axes[i])] *= sizes[i];
    }
    tile = std::accumulate(sizes.begin(), sizes.end(), memory::dim{1}, std::multiplies<>());
  }

  /// From the outermost to the innermost, and the axis of each.
  memory::dims sizes;
  memory::dims axes;
  /// Elements of a tile along each axis.
  memory::dims of_axis;
  memory::dims strides;
  memory::dim tile = 1;
};

/// The coordinates in a tile of what lies at a place in it.
memory::dims coordinates(const Blocks& blocks, memory::dim place) {
  memory::dims digits(blocks.sizes.size());
  for (std::size_t i = digits.size(); i-- > 0;) {
    digits[i] = place % blocks.sizes[i];
    place /= blocks.sizes[i];
  }
  memory::dims result(blocks.of_axis.size(), 0);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    memory::dim& along = result[static_cast<std::size_t>(blocks.axes[i])];
    along = along * blocks.sizes[i] + digits[i];
  }
  return result;
}

memory::dim place_of(const Blocks& blocks, memory::dims coordinates) {
  memory::dim place = 0;
  memory::dim stride = 1;
  for (std::size_t i = blocks.sizes.size(); i-- > 0;) {
    memory::dim& along = coordinates[static_cast<std::size_t>(blocks.axes[i])];
    place += along % blocks.sizes[i] * stride;
    along /= blocks.sizes[i];
    stride *= blocks.sizes[i];
  }
  return place;
}

/// Calls f(offset in `from`, offset in `copy`) for each tile.
template <class F>
void for_each_tile(const memory::dims& tiles, const Blocks& from, const Blocks& copy, const F& f) {
  memory::dims index(tiles.size(), 0);
  memory::dim from_offset = 0;
  memory::dim copy_offset = 0;
  for (std::size_t axis = 0; axis < tiles.size();) {
    if (axis == 0) {
      f(from_offset, copy_offset);
    }
    // To the next tile: counts up along the first axis that has one left.
    if (index[axis] + 1 < tiles[axis]) {
      ++index[axis];
      from_offset += from.strides[axis];
      copy_offset += copy.strides[axis];
      axis = 0;
    } else {
      from_offset -= index[axis] * from.strides[axis];
      copy_offset -= index[axis] * copy.strides[axis];
      index[axis] = 0;
      ++axis;
    }
  }
}

}  // namespace

std::optional<TileOrder> tile_order(const memory::desc& from, const memory::desc& copy) {
  const auto blocked = memory::format_kind::blocked;
  if (from.get_format_kind() != blocked || copy.get_format_kind() != blocked ||
      from.get_padded_dims() != copy.get_padded_dims()) {
    return std::nullopt;
  }
  const Blocks in(from);
  const Blocks out(copy);
  const auto tile = static_cast<std::size_t>(in.tile);
  if (in.of_axis != out.of_axis || tile > TileOrder::kMaxElements) {
    return std::nullopt;
  }
  memory::dims tiles = from.get_padded_dims();
  std::transform(tiles.begin(), tiles.end(), in.of_axis.begin(), tiles.begin(), std::divides<>());
  bool in_order = in.sizes == out.sizes && in.axes == out.axes;
  for (std::size_t axis = 0; axis < tiles.size(); ++axis) {
    in_order = in_order && (tiles[axis] == 1 || in.strides[axis] == out.strides[axis]);
  }
  if (in_order) {
    return TileOrder{};
  }
  constexpr std::size_t kWorthIt = 16;
  if (tile < kWorthIt || (tile & (tile - 1)) != 0) {
    return std::nullopt;
  }
  TileOrder order;
  order.elements.resize(tile);
  for (std::size_t i = 0; i < tile; ++i) {
    const auto place = static_cast<memory::dim>(i);
    order.elements[i] = static_cast<std::uint16_t>(place_of(in, coordinates(out, place)));
  }
  const memory::dim count =
      std::accumulate(tiles.begin(), tiles.end(), memory::dim{1}, std::multiplies<>());
  order.tiles.resize(static_cast<std::size_t>(count));
  bool dense = true;
  for_each_tile(tiles, in, out, [&](memory::dim from_offset, memory::dim copy_offset) {
    dense = dense && from_offset / in.tile < count && copy_offset / in.tile < count;
    if (dense) {
      order.tiles[static_cast<std::size_t>(from_offset / in.tile)] =
          static_cast<std::uint32_t>(copy_offset / in.tile);
    }
  });
  return dense ? std::optional(order) : std::nullopt;
}

}  // namespace bench::onednn
