#include "kernels/cpu/tile_copy.h"

#include <algorithm>

#include "kernels/cpu/cast.h"
#include "models/base/errors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/tile_copy.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"

#ifndef BENCH_KERNELS_CPU_TILE_COPY_CC_
#define BENCH_KERNELS_CPU_TILE_COPY_CC_
namespace bench::cpu {

/// The operation on some tiles.
struct TileRun {
  const TileOrder& order;
  std::size_t joined_rows = 0;
  bool moves_pairs = false;
  const float* from = nullptr;
  std::size_t first = 0;
  std::size_t count = 0;
  std::uint16_t* to = nullptr;
};

}  // namespace bench::cpu
#endif  // BENCH_KERNELS_CPU_TILE_COPY_CC_

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Joins a b c d ... of one row and A B C D ... of the next to a A b B c C d D ...
void join_rows(std::size_t elements, std::size_t row, const std::uint16_t* from,
               std::uint16_t* to) {
  for (std::size_t i = 0; i < elements; i += 2 * row) {
    auto* const pairs = reinterpret_cast<std::uint32_t*>(to + i);
    sweep(row, [&](std::size_t column, auto lanes) HWY_ATTR {
      const Words even = hn::PromoteTo(U32(), load_lanes(U16(), from + i + column, lanes));
      const Words odd = hn::PromoteTo(U32(), load_lanes(U16(), from + i + row + column, lanes));
      store_lanes(hn::Or(even, hn::ShiftLeft<16>(odd)), U32(), pairs + column, lanes);
    });
  }
}

/// `elements` as in TileOrder.
void move_pairs(const std::vector<std::uint16_t>& elements, const std::uint16_t* from,
                std::uint16_t* to) {
  const hn::RebindToSigned<F32> numbers;
  const auto* const moved = reinterpret_cast<const std::uint32_t*>(elements.data());
  const auto* const read = reinterpret_cast<const std::uint32_t*>(from);
  auto* const written = reinterpret_cast<std::uint32_t*>(to);
  sweep(elements.size() / 2, [&](std::size_t i, auto lanes) HWY_ATTR {
    // The first of each pair, which identifies the pair.
    const Words first = hn::And(load_lanes(U32(), moved + i, lanes), word(0xFFFF));
    const auto pairs = hn::BitCast(numbers, hn::ShiftRight<1>(first));
    store_lanes(hn::GatherIndex(U32(), read, pairs), U32(), written + i, lanes);
  });
}

template <class To>
void copy_tiles_to(const TileRun& run) {
  const std::size_t elements = run.order.elements.size();
  alignas(64) To rounded[TileOrder::kMaxElements];
  const auto* const halves = reinterpret_cast<const std::uint16_t*>(rounded);
  for (std::size_t t = 0; t < run.count; ++t) {
    const float* const from = run.from + t * elements;
    sweep(elements, [&](std::size_t i, auto lanes)
                        HWY_ATTR { store(load(from + i, lanes), rounded + i, lanes); });
    std::uint16_t* const to = run.to + run.order.tiles[run.first + t] * elements;
    if (run.joined_rows > 0) {
      join_rows(elements, run.joined_rows, halves, to);
    } else if (run.moves_pairs) {
      move_pairs(run.order.elements, halves, to);
    } else {
      for (std::size_t i = 0; i < elements; ++i) {
        to[i] = halves[run.order.elements[i]];
      }
    }
  }
}

void copy_tiles_bf16(const TileRun& run) { copy_tiles_to<Bfloat16>(run); }
void copy_tiles_f16(const TileRun& run) { copy_tiles_to<Float16>(run); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::cpu {

HWY_EXPORT(copy_tiles_bf16);
HWY_EXPORT(copy_tiles_f16);

namespace {

/// The length of the rows whose pairs an order joins; 0 if it is another order.
std::size_t find_joined_rows(const std::vector<std::uint16_t>& elements) {
  const std::size_t row = elements.size() < 2 ? 0 : elements[1];
  if (row < 2 || elements.size() % (2 * row) != 0) {
    return 0;
  }
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::size_t in_two = i % (2 * row);
    if (elements[i] != i - in_two + in_two % 2 * row + in_two / 2) {
      return 0;
    }
  }
  return row;
}

/// Returns true if `numbers` is a permutation of 0, 1, 2, ...
template <class Number>
bool is_permutation(const std::vector<Number>& numbers) {
  std::vector<bool> seen(numbers.size());
  return std::all_of(numbers.begin(), numbers.end(), [&](Number number) {
    const bool fresh = number < seen.size() && !seen[number];
    if (fresh) {
      seen[number] = true;
    }
    return fresh;
  });
}

bool moves_pairs(const std::vector<std::uint16_t>& elements) {
  for (std::size_t i = 0; i + 1 < elements.size(); i += 2) {
    if (elements[i] % 2 != 0 || elements[i + 1] != elements[i] + 1) {
      return false;
    }
  }
  return elements.size() > 1;
}

}  // namespace

TileCopier::TileCopier(const TileOrder& order, DType dtype)
    : order_(order),
      dtype_(dtype),
      joined_rows_(find_joined_rows(order.elements)),
      moves_pairs_(moves_pairs(order.elements)) {
  const std::size_t elements = order.elements.size();
  check((elements & (elements - 1)) == 0 && elements <= TileOrder::kMaxElements,
        fmt::format("tile order: a tile cannot have {} elements", elements));
  check(is_permutation(order.elements) && is_permutation(order.tiles),
        "tile order: two elements or tiles map to one position");
}

void TileCopier::copy(const float* from, std::size_t begin, std::size_t count,
                      std::uint16_t* to) const {
  if (order_.same()) {
    cast({.count = static_cast<std::int64_t>(count),
          .from = DType::f32,
          .x = from,
          .to = dtype_,
          .y = to + begin});
    return;
  }
  const std::size_t elements = order_.elements.size();
  const TileRun run{.order = order_,
                    .joined_rows = joined_rows_,
                    .moves_pairs = moves_pairs_,
                    .from = from,
                    .first = begin / elements,
                    .count = count / elements,
                    .to = to};
  dtype_ == DType::bf16 ? HWY_DYNAMIC_DISPATCH(copy_tiles_bf16)(run)
                        : HWY_DYNAMIC_DISPATCH(copy_tiles_f16)(run);
}

}  // namespace bench::cpu
#endif  // HWY_ONCE
