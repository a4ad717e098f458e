#include "kernels/cpu/dropout.h"

#include <algorithm>
#include <array>

#include "models/base/philox.h"

namespace bench::cpu {
namespace {

constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
constexpr std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); }
/// Elements per block of the generator.
constexpr std::int64_t kWords = 4;

}  // namespace

void dropout(ThreadTeam& team, const Dropout& args) {
  const auto scale = static_cast<float>(1.0 / args.attributes.keep);
  // u / 2^24 < keep, with both sides times 2^24: exact.
  const double threshold = args.attributes.keep * 0x1.0p24;
  const std::array<std::uint32_t, 2> key{low(args.attributes.seed), high(args.attributes.stream)};
  constexpr std::int64_t kGrain = 256 * kWords;
  team.for_ranges(args.count, kGrain, [&](Range range) {
    for (std::int64_t begin = range.begin; begin < range.end; begin += kWords) {
      const auto block = static_cast<std::uint64_t>(begin / kWords);
      const auto words = philox4x32({low(block), high(block), low(args.attributes.stream),
                                     static_cast<std::uint32_t>(args.step)},
                                    key);
      const std::int64_t end = std::min(begin + kWords, range.end);
      for (std::int64_t i = begin; i < end; ++i) {
        const std::uint32_t u = words[static_cast<std::size_t>(i - begin)] >> 8U;
        args.y[i] = static_cast<double>(u) < threshold ? args.x[i] * scale : 0.0F;
      }
    }
  });
}

}  // namespace bench::cpu
