#include "kernels/cuda/gpu/rows.h"

#include <algorithm>
#include <bit>

#include "kernels/cuda/gpu/elementwise.h"
#include "kernels/cuda/gpu/unit_rows.h"

namespace bench::cuda {
namespace {

constexpr int kMostParts = 64;

/// A RowPart in units. Parts are kernel arguments, which are limited to 4 KiB.
struct Part {
  const void* x;
  std::int64_t stride;
  /// The part's start in the range of a row that the launch writes.
  unsigned begin;
};
struct Parts {
  int count;
  /// The largest power of two below the count, or 0: the start of a search for a part.
  int half_way;
  /// The number of units of a row that the launch writes.
  unsigned width;
  Part parts[kMostParts];
};

/// y's rows are y_stride units apart.
template <class Unit>
__global__ void join_rows_kernel(Parts parts, std::int64_t rows, Divisor width,
                                 std::int64_t y_stride, Unit* __restrict__ y) {
  BENCH_SHARED(Part, table[kMostParts]);
  if (static_cast<int>(threadIdx.x) < parts.count) {
    table[threadIdx.x] = parts.parts[threadIdx.x];
  }
  __syncthreads();
  for_units_of_lane(rows, width, [&](std::int64_t row, unsigned place) {
    int found = 0;
    for (int step = parts.half_way; step > 0; step /= 2) {
      if (found + step < parts.count && table[found + step].begin <= place) {
        found += step;
      }
    }
    const Part part = table[found];
    y[row * y_stride + place] =
        part.x == nullptr
            ? Unit{}
            : static_cast<const Unit*>(part.x)[row * part.stride + (place - part.begin)];
  });
}

template <class Unit>
void join_some(cudaStream_t stream, std::int64_t rows, Parts& parts, std::int64_t y_stride,
               Unit* y) {
  parts.half_way = static_cast<int>(std::bit_ceil(static_cast<unsigned>(parts.count)) / 2);
  launch(stream, shape_for_rows("join_rows", rows, parts.width), join_rows_kernel<Unit>, parts,
         rows, Divisor(parts.width), y_stride, y);
}

/// `each` and `inner` are in units.
template <class Unit>
__global__ void channel_shuffle_kernel(std::int64_t outer, Divisor width, Divisor inner,
                                       Divisor groups, unsigned each, const Unit* __restrict__ x,
                                       Unit* __restrict__ y) {
  for_units_of_lane(outer, width, [&](std::int64_t row, unsigned place) {
    const unsigned channel = inner.quotient(place);
    const unsigned member = groups.quotient(channel);
    const unsigned group = channel - member * groups.divisor();
    const unsigned from = group * each + member;
    const std::int64_t start = row * width.divisor();
    y[start + place] = x[start + (place - channel * inner.divisor() + from * inner.divisor())];
  });
}

}  // namespace

void join_rows(cudaStream_t stream, const JoinRows& args) {
  const auto size = static_cast<std::int64_t>(size_of(args.dtype));
  std::int64_t unit = unit_bytes(address_of(args.y));
  std::int64_t y_stride = 0;
  for (const RowPart& part : args.parts) {
    const std::int64_t stride = part.x == nullptr ? 0 : part.stride;
    unit = std::gcd(unit, unit_bytes(part.width * size, stride * size, address_of(part.x)));
    y_stride += part.width * size;
  }
  check(y_stride / unit < Divisor::kLimit, "cuda: a row to be joined is too long");
  with_unit(unit, [&](auto tag) {
    using Unit = typename decltype(tag)::type;
    auto* y = static_cast<Unit*>(args.y);
    Parts parts = {};
    const auto flush = [&] {
      if (parts.count > 0) {
        join_some(stream, args.rows, parts, y_stride / unit, y);
        y += parts.width;
        parts = {};
      }
    };
    for (const RowPart& part : args.parts) {
      if (part.width > 0) {
        parts.parts[parts.count++] = {part.x, part.stride * size / unit, parts.width};
        parts.width += static_cast<unsigned>(part.width * size / unit);
      }
      if (parts.count == kMostParts) {
        flush();
      }
    }
    flush();
  });
}

int join_rows_launches(std::span<const RowPart> parts) {
  const auto filled =
      std::ranges::count_if(parts, [](const RowPart& part) { return part.width > 0; });
  return static_cast<int>((filled + kMostParts - 1) / kMostParts);
}

void channel_shuffle(cudaStream_t stream, const ChannelShuffle& args) {
  const std::int64_t channels = args.groups * args.each;
  const auto size = static_cast<std::int64_t>(size_of(args.dtype));
  if (args.groups == 1 || args.each == 1) {
    const std::int64_t bytes = args.outer * channels * args.inner * size;
    return copy(stream, {.bytes = static_cast<std::size_t>(bytes), .x = args.x, .y = args.y});
  }
  const std::int64_t unit = unit_bytes(args.inner * size);
  const std::int64_t inner = args.inner * size / unit;
  with_unit(unit, [&](auto tag) {
    using Unit = typename decltype(tag)::type;
    launch(stream, shape_for_rows("channel_shuffle", args.outer, channels * inner),
           channel_shuffle_kernel<Unit>, args.outer, Divisor(channels * inner), Divisor(inner),
           Divisor(args.groups), static_cast<unsigned>(args.each), static_cast<const Unit*>(args.x),
           static_cast<Unit*>(args.y));
  });
}

}  // namespace bench::cuda
