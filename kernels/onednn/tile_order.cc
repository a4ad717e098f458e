#include "kernels/onednn/tile_order.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace bench::onednn {
namespace {

using dnnl::memory;

std::size_t at(memory::dim axis) { return static_cast<std::size_t>(axis); }

memory::dim product(const memory::dims& factors) {
  return std::accumulate(factors.begin(), factors.end(), memory::dim{1}, std::multiplies<>());
}

/// Elements along each axis of the innermost block in memory.
memory::dims inner_extents(const memory::desc& desc) {
  memory::dims extents(at(desc.get_ndims()), 1);
  const memory::dims blocks = desc.get_inner_blks();
  const memory::dims axes = desc.get_inner_idxs();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    extents[at(axes[i])] *= blocks[i];
  }
  return extents;
}

/// A tensor's memory as tiles with the given number of elements along each axis.
class Tiling {
 public:
  /// `extents` divide inner_extents().
  Tiling(const memory::desc& desc, const memory::dims& extents) : offsets_(extents.size(), {0}) {
    const memory::dims blocks = desc.get_inner_blks();
    const memory::dims axes = desc.get_inner_idxs();
    memory::dims left = extents;
    memory::dim stride = 1;
    for (std::size_t i = blocks.size(); i-- > 0;) {
      memory::dim& of_tile = left[at(axes[i])];
      const memory::dim inside = std::gcd(of_tile, blocks[i]);
      if (inside > 1) {
        // A tile is one piece.
        works_ = works_ && stride == product(sizes_);
        sizes_.insert(sizes_.begin(), inside);
        axes_.insert(axes_.begin(), axes[i]);
        of_tile /= inside;
      }
      repeat(axes[i], blocks[i] / inside, stride * inside);
      stride *= blocks[i];
    }
    works_ = works_ && product(left) == 1;
    const memory::dims outer = desc.get_strides();
    const memory::dims inner = inner_extents(desc);
    const memory::dims padded = desc.get_padded_dims();
    for (std::size_t axis = 0; axis < outer.size(); ++axis) {
      repeat(static_cast<memory::dim>(axis), padded[axis] / inner[axis], outer[axis]);
    }
  }

  [[nodiscard]] bool works() const { return works_; }
  [[nodiscard]] bool operator==(const Tiling&) const = default;
  /// The offsets of consecutive tiles along an axis.
  [[nodiscard]] const memory::dims& offsets(std::size_t axis) const { return offsets_[axis]; }

  /// Converts a position in a tile to coordinates, and back.
  [[nodiscard]] memory::dims coordinates(memory::dim place) const {
    memory::dims result(offsets_.size(), 0);
    memory::dims strides(offsets_.size(), 1);
    for (std::size_t i = sizes_.size(); i-- > 0;) {
      const std::size_t axis = at(axes_[i]);
      result[axis] += place % sizes_[i] * strides[axis];
      strides[axis] *= sizes_[i];
      place /= sizes_[i];
    }
    return result;
  }
  [[nodiscard]] memory::dim place(memory::dims coordinates) const {
    memory::dim place = 0;
    memory::dim stride = 1;
    for (std::size_t i = sizes_.size(); i-- > 0;) {
      memory::dim& along = coordinates[at(axes_[i])];
      place += along % sizes_[i] * stride;
      along /= sizes_[i];
      stride *= sizes_[i];
    }
    return place;
  }

 private:
  /// Repeats the offsets of an axis `times` times, `stride` apart.
  void repeat(memory::dim axis, memory::dim times, memory::dim stride) {
    memory::dims& offsets = offsets_[at(axis)];
    const std::size_t once = offsets.size();
    for (memory::dim i = 1; i < times; ++i) {
      for (std::size_t j = 0; j < once; ++j) {
        offsets.push_back(offsets[j] + i * stride);
      }
    }
  }

  /// The sizes in a tile, from the outermost to the innermost, and the axis of each.
  memory::dims sizes_;
  memory::dims axes_;
  std::vector<memory::dims> offsets_;
  bool works_ = true;
};

/// For each tile, its index in the copy.
std::vector<std::uint32_t> order_of_tiles(const Tiling& from, const Tiling& copy, std::size_t axes,
                                          memory::dim tile) {
  std::vector<std::pair<memory::dim, memory::dim>> offsets{{0, 0}};
  for (std::size_t axis = 0; axis < axes; ++axis) {
    std::vector<std::pair<memory::dim, memory::dim>> all;
    all.reserve(offsets.size() * from.offsets(axis).size());
    for (std::size_t i = 0; i < from.offsets(axis).size(); ++i) {
      for (const auto& [in, out] : offsets) {
        all.emplace_back(in + from.offsets(axis)[i], out + copy.offsets(axis)[i]);
      }
    }
    offsets = std::move(all);
  }
  std::vector<std::uint32_t> tiles(offsets.size());
  for (const auto& [in, out] : offsets) {
    const auto number = static_cast<std::size_t>(in / tile);
    if (number >= tiles.size()) {
      return {};
    }
    tiles[number] = static_cast<std::uint32_t>(out / tile);
  }
  return tiles;
}

}  // namespace

std::optional<TileOrder> tile_order(const memory::desc& from, const memory::desc& copy) {
  const auto blocked = memory::format_kind::blocked;
  if (from.get_format_kind() != blocked || copy.get_format_kind() != blocked ||
      from.get_padded_dims() != copy.get_padded_dims()) {
    return std::nullopt;
  }
  memory::dims extents = inner_extents(from);
  const memory::dims others = inner_extents(copy);
  std::transform(extents.begin(), extents.end(), others.begin(), extents.begin(),
                 [](memory::dim a, memory::dim b) { return std::gcd(a, b); });
  const Tiling in(from, extents);
  const Tiling out(copy, extents);
  if (!in.works() || !out.works()) {
    return std::nullopt;
  }
  if (in == out) {
    return TileOrder{};
  }
  const memory::dim tile = product(extents);
  constexpr memory::dim kWorthIt = 16;
  constexpr auto kMost = static_cast<memory::dim>(TileOrder::kMaxElements);
  if (tile < kWorthIt || tile > kMost || (tile & (tile - 1)) != 0) {
    return std::nullopt;
  }
  TileOrder order{.tiles = order_of_tiles(in, out, extents.size(), tile)};
  for (memory::dim place = 0; place < tile; ++place) {
    order.elements.push_back(static_cast<std::uint16_t>(in.place(out.coordinates(place))));
  }
  return order.tiles.empty() ? std::nullopt : std::optional(std::move(order));
}

}  // namespace bench::onednn
