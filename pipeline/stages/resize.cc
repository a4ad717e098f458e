#include "pipeline/stages/resize.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "models/base/errors.h"
#include "models/base/normalization.h"

// This file is compiled once per instruction set; highway includes it repeatedly.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pipeline/stages/resize.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bench {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The pixels at `taps` places after `low` and `high`, which are consecutive vectors.
template <class D>
HWY_INLINE hn::Vec<D> look_up(D di, hn::Vec<D> low, hn::Vec<D> high, hn::Vec<D> taps) {
  const auto lanes = hn::Set(di, static_cast<std::int32_t>(hn::Lanes(di)));
  const auto lane = hn::IndicesFromVec(di, hn::And(taps, hn::Sub(lanes, hn::Set(di, 1))));
  return hn::IfThenElse(hn::Lt(taps, lanes), hn::TableLookupLanes(low, lane),
                        hn::TableLookupLanes(high, lane));
}

/// Mixes a row of `count` pixels along x into three planes of `plane` floats each. `plane` is at
/// least the number of taps rounded up to whole vectors. The tap arrays are as long as the planes.
void mix_columns(const std::uint32_t* HWY_RESTRICT pixels, std::size_t count,
                 const std::int32_t* HWY_RESTRICT first, const std::int32_t* HWY_RESTRICT second,
                 const float* HWY_RESTRICT weight, std::size_t plane, float* HWY_RESTRICT out) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  const std::size_t lanes = hn::Lanes(df);
  const auto byte = hn::Set(di, 0xFF);
  const auto* words = reinterpret_cast<const std::int32_t*>(pixels);
  for (std::size_t x = 0; x < plane; x += lanes) {
    const auto taps_a = hn::LoadU(di, first + x);
    const auto taps_b = hn::LoadU(di, second + x);
    // Taps grow along x, or fall in a mirrored image, so the ends of a vector have the extremes.
    const std::size_t end = x + lanes - 1;
    const auto lowest =
        static_cast<std::size_t>(std::min({first[x], first[end], second[x], second[end]}));
    const auto highest =
        static_cast<std::size_t>(std::max({first[x], first[end], second[x], second[end]}));
    hn::Vec<decltype(di)> a;
    hn::Vec<decltype(di)> b;
    if (highest - lowest < 2 * lanes && count >= 2 * lanes) {
      const std::size_t base = std::min(lowest, count - 2 * lanes);
      const auto offset = hn::Set(di, static_cast<std::int32_t>(base));
      const auto low = hn::LoadU(di, words + base);
      const auto high = hn::LoadU(di, words + base + lanes);
      a = look_up(di, low, high, hn::Sub(taps_a, offset));
      b = look_up(di, low, high, hn::Sub(taps_b, offset));
    } else {
      a = hn::GatherIndex(di, words, taps_a);
      b = hn::GatherIndex(di, words, taps_b);
    }
    const auto w = hn::LoadU(df, weight + x);
    const auto mix = [&](auto left, auto right, float* to) HWY_ATTR {
      const auto l = hn::ConvertTo(df, hn::And(left, byte));
      const auto r = hn::ConvertTo(df, hn::And(right, byte));
      hn::StoreU(hn::Add(l, hn::Mul(hn::Sub(r, l), w)), df, to + x);
    };
    mix(a, b, out);
    mix(hn::ShiftRight<8>(a), hn::ShiftRight<8>(b), out + plane);
    mix(hn::ShiftRight<16>(a), hn::ShiftRight<16>(b), out + 2 * plane);
  }
}

/// Mixes two rows of one channel; returns one vector that begins at position x.
template <class D>
HWY_INLINE hn::Vec<D> mix_rows(D d, const float* upper, const float* lower, std::size_t x,
                               hn::Vec<D> weight) {
  const auto top = hn::LoadU(d, upper + x);
  const auto bottom = hn::LoadU(d, lower + x);
  return hn::Add(top, hn::Mul(hn::Sub(bottom, top), weight));
}

/// The same as above, normalised.
template <class D>
HWY_INLINE hn::Vec<D> mix_and_normalise(D d, const float* upper, const float* lower, std::size_t x,
                                        hn::Vec<D> weight) {
  constexpr Normalization kRange;
  const auto mixed = mix_rows(d, upper, lower, x, weight);
  return hn::Sub(hn::Mul(mixed, hn::Set(d, 1.0F / kRange.deviation)),
                 hn::Set(d, kRange.mean / kRange.deviation));
}

/// One channel of an output row in NCHW.
void pack_plane(const float* HWY_RESTRICT upper, const float* HWY_RESTRICT lower, float weight,
                std::size_t width, float* HWY_RESTRICT out) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto w = hn::Set(d, weight);
  std::size_t x = 0;
  for (; x + lanes <= width; x += lanes) {
    hn::StoreU(mix_and_normalise(d, upper, lower, x, w), d, out + x);
  }
  if (x < width) {
    HWY_ALIGN float rest[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(mix_and_normalise(d, upper, lower, x, w), d, rest);
    for (std::size_t i = 0; x + i < width; ++i) {
      out[x + i] = rest[i];
    }
  }
}

/// A whole output row in NHWC.
void pack_interleaved(const float* HWY_RESTRICT upper, const float* HWY_RESTRICT lower,
                      float weight, std::size_t width, std::size_t plane, float* HWY_RESTRICT out) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto w = hn::Set(d, weight);
  for (std::size_t x = 0; x < width; x += lanes) {
    const auto red = mix_and_normalise(d, upper, lower, x, w);
    const auto green = mix_and_normalise(d, upper + plane, lower + plane, x, w);
    const auto blue = mix_and_normalise(d, upper + 2 * plane, lower + 2 * plane, x, w);
    if (x + lanes <= width) {
      hn::StoreInterleaved3(red, green, blue, d, out + 3 * x);
      continue;
    }
    float rest[std::size_t{3} * HWY_MAX_BYTES / sizeof(float)];
    hn::StoreInterleaved3(red, green, blue, d, rest);
    for (std::size_t i = 0; i < 3 * (width - x); ++i) {
      out[3 * x + i] = rest[i];
    }
  }
}

/// A whole output row of pixels in u8, NHWC.
void pack_pixels(const float* HWY_RESTRICT upper, const float* HWY_RESTRICT lower, float weight,
                 std::size_t width, std::size_t plane, std::uint8_t* HWY_RESTRICT out) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  const std::size_t lanes = hn::Lanes(d);
  const auto w = hn::Set(d, weight);
  const auto rounded = [&](std::size_t channel, std::size_t x) HWY_ATTR {
    const std::size_t place = channel * plane + x;
    return hn::DemoteTo(bytes, hn::NearestInt(mix_rows(d, upper, lower, place, w)));
  };
  for (std::size_t x = 0; x < width; x += lanes) {
    const auto red = rounded(0, x);
    const auto green = rounded(1, x);
    const auto blue = rounded(2, x);
    if (x + lanes <= width) {
      hn::StoreInterleaved3(red, green, blue, bytes, out + 3 * x);
      continue;
    }
    std::uint8_t rest[std::size_t{3} * HWY_MAX_BYTES];
    hn::StoreInterleaved3(red, green, blue, bytes, rest);
    for (std::size_t i = 0; i < 3 * (width - x); ++i) {
      out[3 * x + i] = rest[i];
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench {
namespace {

HWY_EXPORT(mix_columns);
HWY_EXPORT(pack_plane);
HWY_EXPORT(pack_interleaved);
HWY_EXPORT(pack_pixels);

/// Planes are padded to this multiple, so that whole vectors fit on every machine.
constexpr std::size_t kPlaneMultiple = 64;

std::vector<std::int32_t> padded(const std::vector<std::int32_t>& values, std::size_t size) {
  std::vector<std::int32_t> out(values);
  out.resize(size, values.back());
  return out;
}

/// The inputs of an output row: two rows that were mixed along x, in planes.
struct Mixed {
  const float* upper;
  const float* lower;
  float weight;
  std::size_t plane;
};

}  // namespace

template <class Pack>
void Resizer::mix(const RgbxView& source, const AxisTaps& columns, const AxisTaps& rows,
                  const Pack& pack) {
  check(columns.size() > 0 && rows.size() > 0 && columns.lowest() >= 0 && rows.lowest() >= 0 &&
            columns.highest() < source.width && rows.highest() < source.height,
        "resize taps must be inside the source");
  const auto width = static_cast<std::size_t>(columns.size());
  const auto height = static_cast<std::size_t>(rows.size());
  const std::size_t plane = (width + kPlaneMultiple - 1) / kPlaneMultiple * kPlaneMultiple;
  const std::vector<std::int32_t> first = padded(columns.first, plane);
  const std::vector<std::int32_t> second = padded(columns.second, plane);
  std::vector<float> weight(columns.weight);
  weight.resize(plane);
  upper_.resize(3 * plane);
  lower_.resize(3 * plane);

  int upper_row = -1;
  int lower_row = -1;
  const auto mix_columns = [&](int row, std::vector<float>& out) {
    HWY_DYNAMIC_DISPATCH(mix_columns)
    (source.row(row), static_cast<std::size_t>(source.width), first.data(), second.data(),
     weight.data(), plane, out.data());
  };
  for (std::size_t y = 0; y < height; ++y) {
    const int upper = rows.first[y];
    const int lower = rows.second[y];
    if (upper == lower_row) {
      std::swap(upper_, lower_);
      std::swap(upper_row, lower_row);
    }
    if (upper != upper_row) {
      mix_columns(upper, upper_);
      upper_row = upper;
    }
    if (lower != upper && lower != lower_row) {
      mix_columns(lower, lower_);
      lower_row = lower;
    }
    pack(y, Mixed{.upper = upper_.data(),
                  .lower = lower == upper ? upper_.data() : lower_.data(),
                  .weight = rows.weight[y],
                  .plane = plane});
  }
}

void Resizer::run(const RgbxView& source, const AxisTaps& columns, const AxisTaps& rows,
                  SlotLayout layout, float* output) {
  const auto width = static_cast<std::size_t>(columns.size());
  const auto height = static_cast<std::size_t>(rows.size());
  mix(source, columns, rows, [&](std::size_t y, const Mixed& row) {
    if (layout == SlotLayout::nhwc) {
      HWY_DYNAMIC_DISPATCH(pack_interleaved)
      (row.upper, row.lower, row.weight, width, row.plane, output + 3 * width * y);
      return;
    }
    for (std::size_t c = 0; c < 3; ++c) {
      HWY_DYNAMIC_DISPATCH(pack_plane)
      (row.upper + c * row.plane, row.lower + c * row.plane, row.weight, width,
       output + (c * height + y) * width);
    }
  });
}

void Resizer::run(const RgbxView& source, const AxisTaps& columns, const AxisTaps& rows,
                  std::uint8_t* output) {
  const auto width = static_cast<std::size_t>(columns.size());
  mix(source, columns, rows, [&](std::size_t y, const Mixed& row) {
    HWY_DYNAMIC_DISPATCH(pack_pixels)
    (row.upper, row.lower, row.weight, width, row.plane, output + 3 * width * y);
  });
}

}  // namespace bench
#endif  // HWY_ONCE
