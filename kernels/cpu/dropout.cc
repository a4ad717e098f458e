#include "kernels/cpu/dropout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "kernels/cpu/dropout_columns.h"
#include "kernels/cpu/element.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/dropout.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
constexpr std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); }

/// The upper halves of the products of all lanes of `a` with those of `b`, which are all equal.
HWY_INLINE Words upper_product(Words a, Words b) {
  const U32 d;
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, high(std::uint64_t{hn::GetLane(a)} * hn::GetLane(b)));
#else
  const hn::RepartitionToWide<U32> wide;
  const auto even = hn::MulEven(a, b);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, a))), b);
  return hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
#endif
}

/// scale or 0, depending on the generator's word.
HWY_INLINE Vector factor_of(Words word, float threshold, float scale) {
  const F32 d;
  // The upper 24 bits: an exact float.
  const Vector uniform =
      hn::ConvertTo(d, hn::BitCast(hn::RebindToSigned<U32>(), hn::ShiftRight<8>(word)));
  return hn::IfThenElseZero(hn::Lt(uniform, hn::Set(d, threshold)), hn::Set(d, scale));
}

/// Writes the factors of the elements from 4 * block to `count`, and up to kExcess more.
/// Philox4x32-10 as in models/base/philox.h, one block per lane.
void dropout_factors(const DropoutAttributes& attributes, std::int32_t step, std::uint64_t block,
                     std::int64_t count, float* factors) {
  constexpr int kRounds = 10;
  const U32 d;
  const F32 df;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto scale = static_cast<float>(1.0 / attributes.keep);
  // u / 2^24 < keep for a whole number u is u < ceil(keep * 2^24), which a float holds.
  const auto threshold = static_cast<float>(std::ceil(attributes.keep * 0x1.0p24));
  const Words first_factor = hn::Set(d, 0xD2511F53U);
  const Words second_factor = hn::Set(d, 0xCD9E8D57U);
  for (std::int64_t done = 0; done < count; done += 4 * lanes) {
    const Words start = hn::Set(d, low(block));
    Words a = hn::Add(start, hn::Iota(d, 0));
    // A carry, if the lower half wrapped around.
    const Words upper = hn::Set(d, high(block));
    Words b = hn::IfThenElse(hn::Lt(a, start), hn::Add(upper, hn::Set(d, 1)), upper);
    Words c = hn::Set(d, low(attributes.stream));
    Words e = hn::Set(d, static_cast<std::uint32_t>(step));
    Words first_key = hn::Set(d, low(attributes.seed));
    Words second_key = hn::Set(d, high(attributes.stream));
    for (int round = 0; round < kRounds; ++round) {
      const Words a_upper = upper_product(a, first_factor);
      const Words a_lower = hn::Mul(a, first_factor);
      const Words c_upper = upper_product(c, second_factor);
      const Words c_lower = hn::Mul(c, second_factor);
      a = hn::Xor(hn::Xor(c_upper, b), first_key);
      b = c_lower;
      c = hn::Xor(hn::Xor(a_upper, e), second_key);
      e = a_lower;
      first_key = hn::Add(first_key, hn::Set(d, 0x9E3779B9U));
      second_key = hn::Add(second_key, hn::Set(d, 0xBB67AE85U));
    }
    hn::StoreInterleaved4(factor_of(a, threshold, scale), factor_of(b, threshold, scale),
                          factor_of(c, threshold, scale), factor_of(e, threshold, scale), df,
                          factors + done);
    block += static_cast<std::uint64_t>(lanes);
  }
}

/// y = x * factor, or 0 if the factor is 0, whatever x is.
template <class T>
HWY_INLINE void apply_line(const T* x, const float* factors, std::size_t count, T* y) {
  const Vector zero = hn::Zero(F32());
  sweep(count, [&](std::size_t i, auto lanes) HWY_ATTR {
    const Vector factor = load(factors + i, lanes);
    const Vector scaled = hn::Mul(load(x + i, lanes), factor);
    store(hn::IfThenZeroElse(hn::Eq(factor, zero), scaled), y + i, lanes);
  });
}

void apply_factors(const Dropout& args, const float* factors, Range range) {
  with_element(args.dtype, [&](auto type) HWY_ATTR {
    using T = decltype(type);
    apply_line(static_cast<const T*>(args.x) + range.begin, factors,
               static_cast<std::size_t>(range.count()), static_cast<T*>(args.y) + range.begin);
  });
}

/// Applies factors to rows of some columns, from element `offset` on, `pitch` elements apart.
/// Column c uses the factors at columns.factors[c], one per row.
void apply_columns(const Dropout& args, const DropoutColumns& columns, std::int64_t offset,
                   std::int64_t pitch) {
  with_element(args.dtype, [&](auto type) HWY_ATTR {
    using T = decltype(type);
    const auto* x = static_cast<const T*>(args.x) + offset;
    auto* y = static_cast<T*>(args.y) + offset;
    std::array<float, kTileColumns> factors{};
    for (std::int64_t row = 0; row < columns.rows; ++row) {
      for (std::size_t column = 0; column < columns.count; ++column) {
        factors[column] = columns.factors[column][row];
      }
      apply_line(x, factors.data(), columns.count, y);
      x += pitch;
      y += pitch;
    }
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::cpu {
namespace {

/// Elements per block of the generator.
constexpr std::int64_t kWords = 4;
/// The maximum that dropout_factors writes after the last element: four of the longest vectors.
constexpr std::int64_t kExcess = kWords * 64;
constexpr std::int64_t kLineElements = 1024;
constexpr std::int64_t kTileRows = 256;
constexpr std::int64_t kTilePitch = kTileRows + kWords + kExcess;

}  // namespace

HWY_EXPORT(dropout_factors);
HWY_EXPORT(apply_factors);
HWY_EXPORT(apply_columns);

namespace {

/// Writes the factors of elements first..first+count-1 of the view; returns the address of the
/// first one.
const float* fill_factors(const Dropout& args, std::int64_t first, std::int64_t count,
                          float* factors) {
  first += static_cast<std::int64_t>(args.attributes.first_element);
  const std::int64_t lead = first % kWords;
  HWY_DYNAMIC_DISPATCH(dropout_factors)
  (args.attributes, args.step, static_cast<std::uint64_t>(first / kWords), lead + count, factors);
  return factors + lead;
}

/// Elements in canonical order.
void dropout_line(ThreadTeam& team, const Dropout& args) {
  team.for_ranges(args.view.elements(), kLineElements, [&](Range range) {
    alignas(64) std::array<float, kLineElements + kWords + kExcess> factors;
    for (std::int64_t begin = range.begin; begin < range.end; begin += kLineElements) {
      const std::int64_t count = std::min(kLineElements, range.end - begin);
      const float* const first = fill_factors(args, begin, count, factors.data());
      HWY_DYNAMIC_DISPATCH(apply_factors)
      (args, first, {.begin = begin, .end = begin + count});
    }
  });
}

/// Some rows of at most kTileColumns adjacent channels.
struct Tile {
  std::int64_t sample = 0;
  std::int64_t group = 0;
  /// Within the group.
  std::int64_t first_column = 0;
  std::int64_t columns = 0;
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
};

/// Draws the factors channel by channel, in the generator's order, and applies them row by row.
void dropout_tile(const Dropout& args, const ChannelTiling& tiling, const Tile& tile) {
  alignas(64) std::array<float, std::int64_t{kTileColumns} * kTilePitch> factors;
  DropoutColumns columns{.count = static_cast<std::size_t>(tile.columns), .rows = tile.rows};
  for (std::int64_t column = 0; column < tile.columns; ++column) {
    const std::int64_t channel = tile.group * tiling.width + tile.first_column + column;
    float* const line = factors.data() + column * kTilePitch;
    const float*& first = columns.factors[static_cast<std::size_t>(column)];
    if (channel < tiling.channels) {
      const std::int64_t plane = (tile.sample * tiling.channels + channel) * tiling.rows;
      first = fill_factors(args, plane + tile.first_row, tile.rows, line);
    } else {
      std::fill_n(line, tile.rows, 0.0F);
      first = line;
    }
  }
  const Piece piece = tiling.piece(tile.group, tile.sample, tile.first_row, tile.rows);
  HWY_DYNAMIC_DISPATCH(apply_columns)
  (args, columns, piece.offset + tile.first_column, tiling.width);
}

/// Rows of several channels.
void dropout_rows(ThreadTeam& team, const Dropout& args) {
  const ChannelTiling tiling = ChannelTiling::by_sample(args.view);
  const std::int64_t strips = (tiling.width + kTileColumns - 1) / kTileColumns;
  team.for_ranges(tiling.batch * tiling.groups * strips, 1, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const std::int64_t column = i % strips * kTileColumns;
      for (std::int64_t row = 0; row < tiling.rows; row += kTileRows) {
        dropout_tile(args, tiling,
                     {.sample = i / strips / tiling.groups,
                      .group = i / strips % tiling.groups,
                      .first_column = column,
                      .columns = std::min(kTileColumns, tiling.width - column),
                      .first_row = row,
                      .rows = std::min(kTileRows, tiling.rows - row)});
      }
    }
  });
}

}  // namespace

void dropout(ThreadTeam& team, const Dropout& args) {
  if (args.step < 0) {
    if (args.y != args.x) {
      std::memcpy(args.y, args.x, bytes_of(args.view.elements(), args.dtype));
    }
    return;
  }
  const bool dense = args.view.kind != ChannelView::Kind::blocked;
  if (args.view.kind == ChannelView::Kind::nchw || (dense && args.view.spatial == 1)) {
    dropout_line(team, args);
  } else {
    dropout_rows(team, args);
  }
}

}  // namespace bench::cpu
#endif  // HWY_ONCE
