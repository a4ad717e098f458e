#include "kernels/cpu/quantized_pool.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "models/base/errors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/quantized_pool.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Calls body(i, lanes) for consecutive vectors of D that cover 0..count-1.
template <class D, class Body>
HWY_INLINE void sweep_of(D d, std::size_t count, const Body& body) {
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    body(i, Whole{});
  }
  if (i < count) {
    body(i, Part{count - i});
  }
}

/// The pixels of x under a window, each with `channels` elements of type T. As a constant, `count`
/// unrolls the loop over the pixels.
template <class T, class Count>
struct PoolPixels {
  const std::uint8_t* const* first;
  Count count;
  std::size_t channels;

  HWY_INLINE const T* at(std::size_t pixel, std::size_t channel) const {
    return reinterpret_cast<const T*>(first[pixel]) + channel;
  }
};

template <class T, class Count>
HWY_INLINE void max_of(const PoolPixels<T, Count>& x, T* y) {
  const hn::ScalableTag<T> d;
  sweep_of(d, x.channels, [&](std::size_t channel, auto lanes) HWY_ATTR {
    auto largest = load_lanes(d, x.at(0, channel), lanes);
    for (std::size_t i = 1; i < x.count; ++i) {
      largest = hn::Max(largest, load_lanes(d, x.at(i, channel), lanes));
    }
    store_lanes(largest, d, y + channel, lanes);
  });
}

#if HWY_TARGET == HWY_SCALAR

template <class T, class Count>
void mean_of(const PoolPixels<T, Count>& x, T* y) {
  for (std::size_t channel = 0; channel < x.channels; ++channel) {
    int sum = 0;
    for (std::size_t i = 0; i < x.count; ++i) {
      sum += *x.at(i, channel);
    }
    const float mean = static_cast<float>(sum) / static_cast<float>(std::size_t{x.count});
    y[channel] = static_cast<T>(std::nearbyint(mean));
  }
}

#else

using Bytes = hn::ScalableTag<std::uint8_t>;
using Pairs = hn::RepartitionToWide<Bytes>;

/// sum / count, rounded to nearest, ties to even.
template <class Count>
HWY_INLINE hn::Vec<Pairs> rounded_mean(hn::Vec<Pairs> sum, Count count) {
  if (count == 1) {
    return sum;
  }
  const auto all = [](std::size_t value)
                       HWY_ATTR { return hn::Set(Pairs(), static_cast<std::uint16_t>(value)); };
  // For sums up to 255 * count and counts below 16, the upper half of this product is the exact
  // quotient, cut off.
  const auto cut = hn::Add(sum, all(count / 2));
  const auto mean = hn::MulHigh(cut, all((0xFFFF + count) / count));
  if (count % 2 != 0) {
    return mean;
  }
  const auto tie = hn::VecFromMask(Pairs(), hn::Eq(hn::Mul(mean, all(count)), cut));
  return hn::Sub(mean, hn::And(tie, hn::And(mean, all(1))));
}

template <class T, class Count>
HWY_INLINE void mean_of(const PoolPixels<T, Count>& x, T* y) {
  const Bytes d;
  const Pairs pairs;
  // Adds 128 to s8, so that all quanta are positive; the parity of a mean stays.
  const auto shift = hn::Set(d, std::is_signed_v<T> ? 0x80 : 0);
  sweep_of(d, x.channels, [&](std::size_t channel, auto lanes) HWY_ATTR {
    auto second = hn::Zero(pairs);
    auto both = hn::Zero(pairs);  // 256 * second + first, modulo 2^16
    for (std::size_t i = 0; i < x.count; ++i) {
      const auto* const from = reinterpret_cast<const std::uint8_t*>(x.at(i, channel));
      const auto pair = hn::BitCast(pairs, hn::Xor(load_lanes(d, from, lanes), shift));
      both = hn::Add(both, pair);
      second = hn::Add(second, hn::ShiftRight<8>(pair));
    }
    const auto first = hn::Sub(both, hn::ShiftLeft<8>(second));
    const auto means =
        hn::Or(rounded_mean(first, x.count), hn::ShiftLeft<8>(rounded_mean(second, x.count)));
    store_lanes(hn::Xor(hn::BitCast(d, means), shift), d,
                reinterpret_cast<std::uint8_t*>(y + channel), lanes);
  });
}

#endif

template <class T, class Count>
void pool_as(PoolKind kind, const std::uint8_t* const* x, Count count, std::size_t channels,
             void* y) {
  const PoolPixels<T, Count> pixels{x, count, channels};
  kind == PoolKind::max ? max_of(pixels, static_cast<T*>(y)) : mean_of(pixels, static_cast<T*>(y));
}

/// Pools `count` pixels of `channels` elements, which x points to, into one.
void pool_pixels(const QuantizedPool& args, const std::uint8_t* const* x, std::size_t count,
                 std::size_t channels, void* y) {
  using Most = std::integral_constant<std::size_t, kMostPoolElements>;
  const auto pool = [&](auto number) {
    args.dtype == DType::u8 ? pool_as<std::uint8_t>(args.kind, x, number, channels, y)
                            : pool_as<std::int8_t>(args.kind, x, number, channels, y);
  };
  count == Most{} ? pool(Most{}) : pool(count);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::cpu {

HWY_EXPORT(pool_pixels);

namespace {

/// The positions of x along an axis that the window covers at `position` of y.
Range covered(const QuantizedPool& args, std::size_t axis, std::int64_t position) {
  const Window& window = args.window;
  const std::int64_t begin = position * window.stride[axis] - window.pad_before[axis];
  return {.begin = std::max<std::int64_t>(begin, 0),
          .end = std::min(begin + window.kernel[axis], args.x_shape[2 + axis])};
}

/// Rows of y are numbered through all samples.
void pool_rows(const QuantizedPool& args, Range rows) {
  const std::int64_t channels = args.x_shape[1];
  const std::int64_t height = args.x_shape[2];
  const std::int64_t width = args.x_shape[3];
  const std::int64_t y_height = args.window.output_extent(0, height);
  const std::int64_t y_width = args.window.output_extent(1, width);
  const auto pool = HWY_DYNAMIC_DISPATCH(pool_pixels);
  auto* y = static_cast<std::uint8_t*>(args.y) + rows.begin * y_width * channels;
  for (std::int64_t row = rows.begin; row < rows.end; ++row) {
    const auto* const sample =
        static_cast<const std::uint8_t*>(args.x) + row / y_height * height * width * channels;
    const Range tall = covered(args, 0, row % y_height);
    for (std::int64_t column = 0; column < y_width; ++column, y += channels) {
      const Range wide = covered(args, 1, column);
      std::array<const std::uint8_t*, kMostPoolElements> pixels{};
      std::size_t count = 0;
      for (std::int64_t h = tall.begin; h < tall.end; ++h) {
        for (std::int64_t w = wide.begin; w < wide.end; ++w) {
          pixels[count++] = sample + (h * width + w) * channels;
        }
      }
      pool(args, pixels.data(), count, static_cast<std::size_t>(channels), y);
    }
  }
}

}  // namespace

bool pools_quanta(const Window& window) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t kernel = window.kernel[axis];
    if (window.dilation[axis] != 1 || window.pad_before[axis] >= kernel ||
        window.pad_after[axis] >= kernel) {
      return false;
    }
  }
  return window.kernel[0] * window.kernel[1] <= static_cast<std::int64_t>(kMostPoolElements);
}

void quantized_pool(ThreadTeam& team, const QuantizedPool& args) {
  check(pools_quanta(args.window), "quantized_pool: unsupported window");
  check(args.dtype == DType::u8 || args.dtype == DType::s8, "quantized_pool: needs u8 or s8");
  const std::int64_t rows = args.x_shape[0] * args.window.output_extent(0, args.x_shape[2]);
  team.parallel([&](int thread) { pool_rows(args, ThreadTeam::split(rows, team.size(), thread)); });
}

}  // namespace bench::cpu
#endif
