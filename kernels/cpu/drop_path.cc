#include "kernels/cpu/drop_path.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/element.h"
#include "models/base/philox.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/drop_path.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

void scale_elements(std::int64_t count, DType dtype, float factor, const void* from, void* to) {
  const Vector factors = hn::Set(F32(), factor);
  with_element(dtype, [&](auto type) HWY_ATTR {
    const auto* const x = static_cast<const decltype(type)*>(from);
    auto* const y = static_cast<decltype(type)*>(to);
    sweep(static_cast<std::size_t>(count), [&](std::size_t i, auto lanes) HWY_ATTR {
      store(hn::Mul(load(x + i, lanes), factors), y + i, lanes);
    });
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::cpu {

HWY_EXPORT(scale_elements);

namespace {

constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
constexpr std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); }

/// What an example is multiplied with.
float factor_of(const DropPath& args, std::int64_t example) {
  if (args.step < 0) {
    return 1;
  }
  constexpr std::uint64_t kWords = 4;
  const std::uint64_t index = args.first_example + static_cast<std::uint64_t>(example);
  const std::uint64_t block = index / kWords;
  const auto words =
      philox4x32({low(block), high(block), low(args.stream), static_cast<std::uint32_t>(args.step)},
                 {low(args.seed), high(args.stream)});
  // u / 2^24 < keep, with both sides times 2^24: exact.
  const auto u = static_cast<double>(words[index % kWords] >> 8U);
  return u < args.keep * 0x1.0p24 ? static_cast<float>(1 / args.keep) : 0.0F;
}

/// An example, or a part of it.
void apply(float factor, std::int64_t count, DType dtype, const void* x, void* y) {
  const std::size_t bytes = bytes_of(count, dtype);
  if (factor == 0) {
    std::memset(y, 0, bytes);
  } else if (factor != 1) {
    HWY_DYNAMIC_DISPATCH(scale_elements)(count, dtype, factor, x, y);
  } else if (x != y) {
    std::memcpy(y, x, bytes);
  }
}

}  // namespace

void drop_path(ThreadTeam& team, const DropPath& args) {
  team.for_ranges(args.examples * args.elements, kElementGrain, [&](Range range) {
    std::int64_t example = range.begin / args.elements;
    for (std::int64_t i = range.begin; i < range.end; ++example) {
      const std::int64_t end = std::min(range.end, (example + 1) * args.elements);
      apply(factor_of(args, example), end - i, args.dtype, element(args.x, args.dtype, i),
            element(args.y, args.dtype, i));
      i = end;
    }
  });
}

}  // namespace bench::cpu
#endif  // HWY_ONCE
