#include "kernels/cpu/join_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>

#include "kernels/cpu/element.h"

namespace bench::cpu {
namespace {

/// Elements range.begin..range.end-1 of y. They are written in order, by plain copies: the
/// library's choose their instructions by length, which runs from some channels to whole samples.
void join_range(const JoinRows& args, std::int64_t row_width, Range range) {
  const auto size = static_cast<std::int64_t>(size_of(args.dtype));
  std::int64_t row = range.begin / row_width;
  std::int64_t skip = range.begin % row_width;
  auto* y = static_cast<std::byte*>(element(args.y, args.dtype, range.begin));
  std::int64_t left = range.count();
  for (; left > 0; ++row) {
    for (const RowPart& part : args.parts) {
      if (skip >= part.width) {
        skip -= part.width;
        continue;
      }
      const std::int64_t count = std::min(part.width - skip, left);
      const auto bytes = static_cast<std::size_t>(count * size);
      if (part.x == nullptr) {
        std::memset(y, 0, bytes);
      } else {
        const auto* const x = static_cast<const std::byte*>(part.x);
        std::memcpy(y, x + (row * part.stride + skip) * size, bytes);
      }
      y += bytes;
      left -= count;
      skip = 0;
    }
  }
}

}  // namespace

void join_rows(ThreadTeam& team, const JoinRows& args) {
  const std::int64_t row_width =
      std::accumulate(args.parts.begin(), args.parts.end(), std::int64_t{0},
                      [](std::int64_t sum, const RowPart& part) { return sum + part.width; });
  team.for_ranges(args.rows * row_width, kElementGrain,
                  [&](Range range) { join_range(args, row_width, range); });
}

}  // namespace bench::cpu
