#include "kernels/cpu/concat_batch_norm.h"

#include <algorithm>
#include <limits>

#include "kernels/cpu/channel_plan.h"
#include "kernels/cpu/channel_tiles.h"
#include "kernels/cpu/channel_workspace.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/normalized_part.h"
#include "models/base/errors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/concat_batch_norm.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// `value` between low and high; keeps a NaN.
HWY_INLINE Vector limited(Vector value, Vector low, Vector high) {
  const Vector above = hn::IfThenElse(hn::Lt(value, low), low, value);
  return hn::IfThenElse(hn::Gt(above, high), high, above);
}

/// Rounds to nearest, ties to even, within the limits of T.
template <class T, class Lanes>
HWY_INLINE void store_quanta(Vector value, T* to, Lanes lanes) {
  const F32 d;
  const hn::Rebind<T, F32> narrow;
  const Vector low = hn::Set(d, static_cast<float>(std::numeric_limits<T>::lowest()));
  const Vector high = hn::Set(d, static_cast<float>(std::numeric_limits<T>::max()));
  store_lanes(hn::DemoteTo(narrow, hn::NearestInt(limited(value, low, high))), narrow, to, lanes);
}

template <class T, class To, bool kPlane>
void normalize_part_of(const NormalizedPart& args) {
  const F32 d;
  const auto* const x = static_cast<const T*>(args.x);
  auto* const y = static_cast<To*>(args.y);
  const Vector low = hn::Set(d, args.low);
  const Vector high = hn::Set(d, args.high);
  const Vector inverse_quantum = hn::Set(d, args.inverse_quantum);
  // `count` vectors of the same channels, in rows that are x_stride and y_stride apart.
  const auto rows = [&](auto count, std::size_t column, auto lanes, const T* from,
                        std::size_t x_stride, To* to, std::size_t y_stride) HWY_ATTR {
    const Vector mean = channel_value<kPlane>(args.mean, column, lanes);
    const Vector scale = channel_value<kPlane>(args.scale, column, lanes);
    const Vector shift = channel_value<kPlane>(args.shift, column, lanes);
    for (std::size_t q = 0; q < static_cast<std::size_t>(count); ++q) {
      const Vector centred = hn::Sub(load(from + q * x_stride, lanes), mean);
      const Vector value = limited(hn::MulAdd(centred, scale, shift), low, high);
      if constexpr (std::is_same_v<T, To>) {
        store(value, to + q * y_stride, lanes);
      } else {
        store_quanta(hn::Mul(value, inverse_quantum), to + q * y_stride, lanes);
      }
    }
  };
  const auto count = static_cast<std::size_t>(args.block.rows);
  const auto width = static_cast<std::size_t>(args.block.width);
  if constexpr (kPlane) {
    traverse<true>(
        count, width,
        [&](auto vectors, std::size_t offset, std::size_t column, auto lanes, std::size_t stride)
            HWY_ATTR { rows(vectors, column, lanes, x + offset, stride, y + offset, stride); });
  } else {
    const auto y_stride = static_cast<std::size_t>(args.y_stride);
    const auto row_of = [&](auto vectors, std::size_t row) HWY_ATTR {
      sweep(width, [&](std::size_t column, auto lanes) HWY_ATTR {
        rows(vectors, column, lanes, x + row * width + column, width, y + row * y_stride + column,
             y_stride);
      });
    };
    std::size_t row = 0;
    for (; four_rows_pay(width) && row + 4 <= count; row += 4) {
      row_of(Vectors<4>{}, row);
    }
    for (; row < count; ++row) {
      row_of(Vectors<1>{}, row);
    }
  }
}

template <class T, class To>
void normalize_part_to(const NormalizedPart& args) {
  if (args.block.width == 1 && args.y_stride == 1) {
    normalize_part_of<T, To, true>(args);
  } else {
    normalize_part_of<T, To, false>(args);
  }
}

void normalize_part(const NormalizedPart& args) {
  with_element(args.dtype, [&](auto type) HWY_ATTR {
    using T = decltype(type);
    if (args.to == DType::u8) {
      normalize_part_to<T, std::uint8_t>(args);
    } else if (args.to == DType::s8) {
      normalize_part_to<T, std::int8_t>(args);
    } else {
      normalize_part_to<T, T>(args);
    }
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::cpu {

HWY_EXPORT(normalize_part);

namespace {

/// The vectors of the workspace.
enum Vector : int { kMean, kScale, kShift };

void find_scales(const ConcatBatchNorm& args, Range channels, const ChannelWorkspace& workspace) {
  for (std::int64_t c = channels.begin; c < channels.end; ++c) {
    workspace.vector(kMean)[c] = args.mean[c];
    workspace.vector(kScale)[c] = inference_scale(args.gamma, args.variance, args.epsilon, c);
    workspace.vector(kShift)[c] = args.beta[c];
  }
}

void check_arguments(const ConcatBatchNorm& args) {
  check(batch_norm_carries(args.activation),
        "concat batch norm: the kernel cannot fuse this activation");
  check(args.to == args.dtype || args.to == DType::u8 || args.to == DType::s8,
        "concat batch norm: the result must have the type of the parts, u8 or s8");
  const bool blocked = args.view.kind == ChannelView::Kind::blocked;
  std::int64_t channels = 0;
  for (const ChannelPart& part : args.parts) {
    check(part.channels > 0 && (!blocked || part.channels % args.view.block == 0),
          "concat batch norm: a part has no channels, or a part of a block");
    channels += part.channels;
  }
  check(channels == args.view.channels, "concat batch norm: the parts do not add up to y");
}

/// The rows of a tile of y, part by part. In nhwc a part fills some columns of every row; in nchw
/// and blocked layouts it fills whole groups.
void normalize_tile(const ConcatBatchNorm& args, const ChannelTiling& tiling, const Tile& tile,
                    const ChannelWorkspace& workspace) {
  const Range columns{.begin = tile.group * tiling.width, .end = (tile.group + 1) * tiling.width};
  NormalizedPart rows{.dtype = args.dtype,
                      .to = args.to,
                      .inverse_quantum = static_cast<float>(1 / args.quantum),
                      .y_stride = tiling.width};
  if (args.activation != ActivationKind::none) {
    rows.low = 0;
    rows.high = args.activation == ActivationKind::relu6 ? 6.0F : rows.high;
  }
  std::int64_t begin = 0;
  for (const ChannelPart& part : args.parts) {
    const std::int64_t end = begin + part.channels;
    if (begin < columns.end && end > columns.begin) {
      const std::int64_t channel = std::max(begin, columns.begin);
      const std::int64_t width = std::min(part.channels, tiling.width);
      const std::int64_t groups = part.channels / width;
      const std::int64_t group = tile.sample * groups + (channel - begin) / width;
      rows.block = {.rows = tile.rows, .width = width};
      rows.x = element(part.x, args.dtype, (group * tiling.rows + tile.row) * width);
      rows.mean = workspace.vector(kMean) + channel;
      rows.scale = workspace.vector(kScale) + channel;
      rows.shift = workspace.vector(kShift) + channel;
      rows.y = element(args.y, args.to, tile.offset + channel - columns.begin);
      HWY_DYNAMIC_DISPATCH(normalize_part)(rows);
    }
    begin = end;
  }
}

}  // namespace

void concat_batch_norm(ThreadTeam& team, const ConcatBatchNorm& args) {
  check_arguments(args);
  if (args.view.elements() == 0) {
    return;
  }
  const ChannelTiling tiling = ChannelTiling::by_sample(args.view);
  const ChannelWorkspace workspace(args.workspace, tiling, team.size());
  constexpr std::int64_t kCacheLineFloats = 16;
  team.for_ranges(tiling.channels, kCacheLineFloats,
                  [&](Range channels) { find_scales(args, channels, workspace); });
  // All parts of some rows are written while those rows are in the caches.
  const std::int64_t most_rows = RowPlan(tiling, team.size()).piece_rows();
  team.for_ranges(tiling.all_rows(), tile_grain(tiling), [&](Range range) {
    for_each_tile(tiling, range, [&](Tile tile) {
      for (std::int64_t left = tile.rows; left > 0; left -= tile.rows) {
        tile.rows = std::min(left, most_rows);
        normalize_tile(args, tiling, tile, workspace);
        tile.row += tile.rows;
        tile.offset += tile.rows * tiling.width;
      }
    });
  });
}

}  // namespace bench::cpu
#endif  // HWY_ONCE
