#include "kernels/cpu/channel_scale.h"

#include <algorithm>
#include <array>

#include "kernels/cpu/channel_passes.h"
#include "kernels/cpu/channel_tiles.h"
#include "kernels/cpu/channel_workspace.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/channel_scale.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

template <bool kPlane>
void scale_block_of(RowBlock block, const float* x, const float* s, float* y) {
  traverse<kPlane>(static_cast<std::size_t>(block.rows), static_cast<std::size_t>(block.width),
                   [&](auto vectors, std::size_t offset, std::size_t column, auto lanes,
                       std::size_t stride) HWY_ATTR {
                     const Vector scale = channel_value<kPlane>(s, column, lanes);
                     for (std::size_t q = 0; q < static_cast<std::size_t>(vectors); ++q) {
                       const std::size_t i = offset + q * stride;
                       store(hn::Mul(load(x + i, lanes), scale), y + i, lanes);
                     }
                   });
}

void scale_block(RowBlock block, const float* x, const float* s, float* y) {
  if (block.width == 1) {
    scale_block_of<true>(block, x, s, y);
  } else {
    scale_block_of<false>(block, x, s, y);
  }
}

/// sums += a * b over the rows, per column.
void add_products(RowBlock block, const float* a, const float* b, float* sums) {
  traverse<false>(static_cast<std::size_t>(block.rows), static_cast<std::size_t>(block.width),
                  [&](auto vectors, std::size_t offset, std::size_t column, auto lanes,
                      std::size_t stride) HWY_ATTR {
                    Vector sum = load(sums + column, lanes);
                    for (std::size_t q = 0; q < static_cast<std::size_t>(vectors); ++q) {
                      const std::size_t i = offset + q * stride;
                      sum = hn::MulAdd(load(a + i, lanes), load(b + i, lanes), sum);
                    }
                    store(sum, sums + column, lanes);
                  });
}

/// The sum of a * b.
float dot(std::int64_t count, const float* a, const float* b) {
  const F32 d;
  const std::size_t lanes = hn::Lanes(d);
  const auto size = static_cast<std::size_t>(count);
  Vector even = hn::Zero(d);
  Vector odd = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= size; i += 2 * lanes) {
    even = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), even);
    odd = hn::MulAdd(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes), odd);
  }
  sweep(size - i, [&](std::size_t k, auto part) HWY_ATTR {
    even = hn::MulAdd(load(a + i + k, part), load(b + i + k, part), even);
  });
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::cpu {

HWY_EXPORT(scale_block);
HWY_EXPORT(add_products);
HWY_EXPORT(dot);

void channel_scale(ThreadTeam& team, const ChannelScale& args) {
  const ChannelTiling tiling = ChannelTiling::by_sample(args.view);
  const std::int64_t width = tiling.width;
  const std::int64_t padded_group =
      tiling.padded_channels() == tiling.channels ? -1 : tiling.groups - 1;
  team.for_ranges(tiling.batch * tiling.groups * tiling.rows, tile_grain(tiling), [&](Range range) {
    // Padding's scales are zeros here, whatever lies behind the real ones.
    std::array<float, ChannelView::kLargestBlock> padded{};
    for_each_tile(tiling, range, [&](const Tile& tile) {
      const float* s = args.s + tile.sample * args.s_stride + tile.group * width;
      if (tile.group == padded_group) {
        std::copy_n(s, tiling.channels - tile.group * width, padded.begin());
        s = padded.data();
      }
      HWY_DYNAMIC_DISPATCH(scale_block)
      ({.rows = tile.rows, .width = width}, args.x + tile.offset, s, args.y + tile.offset);
    });
  });
}

void channel_scale_backward(ThreadTeam& team, const ChannelScaleBackward& args) {
  const ChannelTiling tiling = ChannelTiling::by_sample(args.view);
  const ChannelWorkspace workspace(args.workspace, tiling, team.size());
  const std::int64_t width = tiling.width;
  team.parallel([&](int thread) {
    float* const sums = workspace.accumulators(thread).first;
    double* const total = workspace.first_partial(thread);
    std::fill_n(sums, accumulator_floats(width), 0.0F);
    // Whole groups, so that each sum has one thread and one order.
    const Range groups = ThreadTeam::split(tiling.batch * tiling.groups, team.size(), thread);
    const Range rows{.begin = groups.begin * tiling.rows, .end = groups.end * tiling.rows};
    for_each_tile(tiling, rows, [&](const Tile& tile) {
      const float* const dy = args.dy + tile.offset;
      const float* const x = args.x + tile.offset;
      std::fill_n(total, width, 0.0);
      if (width == 1) {
        for (std::int64_t i = 0; i < tile.rows; i += kSumElements) {
          const std::int64_t count = std::min(kSumElements, tile.rows - i);
          *total += static_cast<double>(HWY_DYNAMIC_DISPATCH(dot)(count, dy + i, x + i));
        }
      } else {
        for (std::int64_t row = 0; row < tile.rows; row += kSumRows) {
          const RowBlock block{.rows = std::min(kSumRows, tile.rows - row), .width = width};
          HWY_DYNAMIC_DISPATCH(add_products)(block, dy + row * width, x + row * width, sums);
          flush_sums(width, sums, total);
        }
      }
      const std::int64_t channel = tile.group * width;
      const std::int64_t real = std::min(width, tiling.channels - channel);
      std::transform(total, total + real, args.ds + tile.sample * tiling.channels + channel,
                     [](double sum) { return static_cast<float>(sum); });
    });
  });
}

}  // namespace bench::cpu
#endif  // HWY_ONCE
