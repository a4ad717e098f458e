#include "kernels/cpu/embedding.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>

#include "kernels/cpu/element.h"
#include "kernels/cpu/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/embedding.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Row `id` of dtable, which is 0: adds the rows of dy at these places.
void add_rows(const EmbeddingBackward& args, std::span<const std::int32_t> places,
              std::int64_t id) {
  with_element(args.dtype, [&](auto type) HWY_ATTR {
    using T = decltype(type);
    float* const sum = args.dtable + id * args.columns;
    for (const std::int32_t place : places) {
      const T* const row = static_cast<const T*>(args.dy) + place * args.columns;
      sweep(static_cast<std::size_t>(args.columns), [&](std::size_t i, auto lanes) HWY_ATTR {
        store(hn::Add(load(sum + i, lanes), load(row + i, lanes)), sum + i, lanes);
      });
    }
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::cpu {

HWY_EXPORT(add_rows);

namespace {

void check_ids(std::span<const std::int32_t> ids, std::int64_t rows) {
  const auto outside = [&](std::int32_t id) { return id < 0 || id >= rows; };
  const auto found = std::ranges::find_if(ids, outside);
  if (found != ids.end()) {
    throw DataError(fmt::format("embedding: id {} is outside the {} rows", *found, rows));
  }
}

/// Rows per thread below which waking another one costs more than it saves.
std::int64_t row_grain(std::int64_t row_bytes) {
  constexpr std::int64_t kBytes = kElementGrain * static_cast<std::int64_t>(sizeof(float));
  return std::max<std::int64_t>(kBytes / std::max<std::int64_t>(row_bytes, 1), 1);
}

/// swap_axes() of short rows, in blocks that a cache holds.
template <std::int64_t kBytes>
void swap_short_rows(ThreadTeam& team, const SwapAxes& args) {
  constexpr std::int64_t kBlock = 16;
  const std::int64_t blocks = (args.b + kBlock - 1) / kBlock;
  const std::int64_t grain = row_grain(kBlock * args.a * args.row_bytes);
  team.for_ranges(args.matrices * blocks, grain, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const std::int64_t matrix = i / blocks * args.a * args.b;
      const auto* const x = static_cast<const std::byte*>(args.x) + matrix * args.row_bytes;
      auto* const y = static_cast<std::byte*>(args.y) + matrix * args.row_bytes;
      const std::int64_t first = i % blocks * kBlock;
      const std::int64_t last = std::min(first + kBlock, args.b);
      for (std::int64_t begin = 0; begin < args.a; begin += kBlock) {
        const std::int64_t end = std::min(begin + kBlock, args.a);
        for (std::int64_t b = first; b < last; ++b) {
          for (std::int64_t a = begin; a < end; ++a) {
            std::memcpy(y + (b * args.a + a) * kBytes, x + (a * args.b + b) * kBytes,
                        static_cast<std::size_t>(kBytes));
          }
        }
      }
    }
  });
}

/// Sets dtable to 0.
void clear(ThreadTeam& team, const EmbeddingBackward& args) {
  if (args.written == nullptr || args.written->dtable != args.dtable) {
    zero_bytes(team, args.dtable, bytes_of(args.rows * args.columns, DType::f32));
    return;
  }
  const std::vector<std::int32_t>& ids = args.written->ids;
  const std::size_t row_bytes = bytes_of(args.columns, DType::f32);
  team.for_ranges(static_cast<std::int64_t>(ids.size()),
                  row_grain(static_cast<std::int64_t>(row_bytes)), [&](Range range) {
                    for (std::int64_t i = range.begin; i < range.end; ++i) {
                      std::memset(args.dtable + ids[static_cast<std::size_t>(i)] * args.columns, 0,
                                  row_bytes);
                    }
                  });
}

/// Records the distinct ids. `order` sorts them.
void record_written(const EmbeddingBackward& args, std::span<const std::int32_t> order) {
  WrittenRows& written = *args.written;
  written.dtable = args.dtable;
  written.ids.clear();
  written.ids.reserve(order.size());
  for (const std::int32_t place : order) {
    if (written.ids.empty() || written.ids.back() != args.ids[place]) {
      written.ids.push_back(args.ids[place]);
    }
  }
}

}  // namespace

void embedding(ThreadTeam& team, const Embedding& args) {
  check_ids({args.ids, static_cast<std::size_t>(args.count)}, args.rows);
  const auto row_bytes = static_cast<std::int64_t>(bytes_of(args.columns, args.dtype));
  const auto* const table = static_cast<const std::byte*>(args.table);
  auto* const y = static_cast<std::byte*>(args.y);
  team.for_ranges(args.count, row_grain(row_bytes), [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      std::memcpy(y + i * row_bytes, table + args.ids[i] * row_bytes,
                  static_cast<std::size_t>(row_bytes));
    }
  });
}

void embedding_backward(ThreadTeam& team, const EmbeddingBackward& args) {
  const std::int32_t* const ids = args.ids;
  check_ids({ids, static_cast<std::size_t>(args.count)}, args.rows);
  clear(team, args);
  const std::span order(args.order, static_cast<std::size_t>(args.count));
  std::iota(order.begin(), order.end(), 0);
  // The places of an id follow one another, and one thread sums all of them.
  std::sort(order.begin(), order.end(), [ids](std::int32_t a, std::int32_t b) {
    return ids[a] != ids[b] ? ids[a] < ids[b] : a < b;
  });
  if (args.written != nullptr) {
    record_written(args, order);
  }
  const auto id_at = [&](std::int64_t i) { return ids[order[static_cast<std::size_t>(i)]]; };
  const auto begins_id = [&](std::int64_t i) {
    return i == 0 || i == args.count || id_at(i - 1) != id_at(i);
  };
  const std::int64_t grain =
      row_grain(static_cast<std::int64_t>(bytes_of(args.columns, args.dtype)));
  team.for_ranges(args.count, grain, [&](Range range) {
    std::int64_t begin = range.begin;
    while (begin < range.end && !begins_id(begin)) {
      ++begin;  // These belong to the range before.
    }
    while (begin < range.end) {
      std::int64_t end = begin + 1;
      while (!begins_id(end)) {
        ++end;
      }
      HWY_DYNAMIC_DISPATCH(add_rows)
      (args, order.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
       id_at(begin));
      begin = end;
    }
  });
}

void swap_axes(ThreadTeam& team, const SwapAxes& args) {
  switch (args.row_bytes) {
    case 2:
      return swap_short_rows<2>(team, args);
    case 4:
      return swap_short_rows<4>(team, args);
    case 8:
      return swap_short_rows<8>(team, args);
    default:
      break;
  }
  const auto* const x = static_cast<const std::byte*>(args.x);
  auto* const y = static_cast<std::byte*>(args.y);
  const std::int64_t rows = args.a * args.b;
  team.for_ranges(args.matrices * rows, row_grain(args.row_bytes), [&](Range range) {
    for (std::int64_t row = range.begin; row < range.end; ++row) {
      const std::int64_t within = row % rows;
      const std::int64_t from = row - within + within % args.a * args.b + within / args.a;
      std::memcpy(y + row * args.row_bytes, x + from * args.row_bytes,
                  static_cast<std::size_t>(args.row_bytes));
    }
  });
}

}  // namespace bench::cpu
#endif  // HWY_ONCE
