#include "kernels/cpu/channel_scale.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "kernels/cpu/cast.h"
#include "kernels/cpu/channel_passes.h"
#include "kernels/cpu/channel_tiles.h"
#include "kernels/cpu/channel_workspace.h"
#include "kernels/cpu/element.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/channel_scale.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T, bool kPlane>
void scale_block_of(RowBlock block, const T* x, const T* s, T* y) {
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

void scale_block(RowBlock block, DType dtype, const void* x, const void* s, void* y) {
  with_element(dtype, [&](auto type) HWY_ATTR {
    using T = decltype(type);
    const auto* const from = static_cast<const T*>(x);
    const auto* const scales = static_cast<const T*>(s);
    auto* const to = static_cast<T*>(y);
    if (block.width == 1) {
      scale_block_of<T, true>(block, from, scales, to);
    } else {
      scale_block_of<T, false>(block, from, scales, to);
    }
  });
}

/// sums += a * b over the rows, per column.
template <class T>
void add_products_of(RowBlock block, const T* a, const T* b, float* sums) {
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

void add_products(RowBlock block, DType dtype, const void* a, const void* b, float* sums) {
  with_element(dtype, [&](auto type) HWY_ATTR {
    using T = decltype(type);
    add_products_of(block, static_cast<const T*>(a), static_cast<const T*>(b), sums);
  });
}

/// The sum of a * b.
template <class T>
float dot_of(std::int64_t count, const T* a, const T* b) {
  const F32 d;
  const std::size_t lanes = hn::Lanes(d);
  const auto size = static_cast<std::size_t>(count);
  Vector even = hn::Zero(d);
  Vector odd = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= size; i += 2 * lanes) {
    even = hn::MulAdd(load(a + i, Whole{}), load(b + i, Whole{}), even);
    odd = hn::MulAdd(load(a + i + lanes, Whole{}), load(b + i + lanes, Whole{}), odd);
  }
  sweep(size - i, [&](std::size_t k, auto part) HWY_ATTR {
    even = hn::MulAdd(load(a + i + k, part), load(b + i + k, part), even);
  });
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

float dot(std::int64_t count, DType dtype, const void* a, const void* b) {
  float sum = 0;
  with_element(dtype, [&](auto type) HWY_ATTR {
    using T = decltype(type);
    sum = dot_of(count, static_cast<const T*>(a), static_cast<const T*>(b));
  });
  return sum;
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
    // Padding has zeros as scales, whatever the values after the real ones are.
    alignas(float) std::array<std::byte, ChannelView::kLargestBlock * sizeof(float)> padded{};
    for_each_tile(tiling, range, [&](const Tile& tile) {
      const std::int64_t channel = tile.group * width;
      const void* s = element(args.s, args.dtype, tile.sample * args.s_stride + channel);
      if (tile.group == padded_group) {
        std::memcpy(padded.data(), s, bytes_of(tiling.channels - channel, args.dtype));
        s = padded.data();
      }
      HWY_DYNAMIC_DISPATCH(scale_block)
      ({.rows = tile.rows, .width = width}, args.dtype, element(args.x, args.dtype, tile.offset), s,
       element(args.y, args.dtype, tile.offset));
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
    // Whole groups, so that one thread adds each sum in one order.
    const Range groups = ThreadTeam::split(tiling.batch * tiling.groups, team.size(), thread);
    const Range rows{.begin = groups.begin * tiling.rows, .end = groups.end * tiling.rows};
    for_each_tile(tiling, rows, [&](const Tile& tile) {
      const auto dy = [&](std::int64_t i) { return element(args.dy, args.dtype, tile.offset + i); };
      const auto x = [&](std::int64_t i) { return element(args.x, args.dtype, tile.offset + i); };
      std::fill_n(total, width, 0.0);
      if (width == 1) {
        for (std::int64_t i = 0; i < tile.rows; i += kSumElements) {
          const std::int64_t count = std::min(kSumElements, tile.rows - i);
          *total += static_cast<double>(HWY_DYNAMIC_DISPATCH(dot)(count, args.dtype, dy(i), x(i)));
        }
      } else {
        for (std::int64_t row = 0; row < tile.rows; row += kSumRows) {
          const RowBlock block{.rows = std::min(kSumRows, tile.rows - row), .width = width};
          HWY_DYNAMIC_DISPATCH(add_products)
          (block, args.dtype, dy(row * width), x(row * width), sums);
          flush_sums(width, sums, total);
        }
      }
      const std::int64_t channel = tile.group * width;
      const std::int64_t real = std::min(width, tiling.channels - channel);
      std::transform(total, total + real, sums, [](double sum) { return static_cast<float>(sum); });
      cast({.count = real,
            .x = sums,
            .to = args.dtype,
            .y = element(args.ds, args.dtype, tile.sample * tiling.channels + channel)});
      std::fill_n(sums, real, 0.0F);
    });
  });
}

}  // namespace bench::cpu
#endif  // HWY_ONCE
