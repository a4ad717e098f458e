#include "kernels/cpu/elementwise.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/elementwise.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

/// y = f(a, b).
template <class T, class F>
HWY_INLINE void map_pairs(const Binary& args, Range range, const F& f) {
  const T* const a = static_cast<const T*>(args.a) + range.begin;
  const T* const b = static_cast<const T*>(args.b) + range.begin;
  T* const y = static_cast<T*>(args.y) + range.begin;
  const auto count = static_cast<std::size_t>(range.count());
  sweep(count, [&](std::size_t i, auto lanes)
                   HWY_ATTR { store(f(load(a + i, lanes), load(b + i, lanes)), y + i, lanes); });
}

void add_range(const Binary& args, Range range) {
  with_element(args.dtype, [&](auto type) HWY_ATTR {
    map_pairs<decltype(type)>(args, range,
                              [](Vector a, Vector b) HWY_ATTR { return hn::Add(a, b); });
  });
}

void multiply_range(const Binary& args, Range range) {
  with_element(args.dtype, [&](auto type) HWY_ATTR {
    map_pairs<decltype(type)>(args, range,
                              [](Vector a, Vector b) HWY_ATTR { return hn::Mul(a, b); });
  });
}

void scale_range(const Scale& args, Range range) {
  const Vector factor = hn::Set(F32(), static_cast<float>(args.factor));
  const float* const x = args.x + range.begin;
  float* const y = args.y + range.begin;
  const auto count = static_cast<std::size_t>(range.count());
  sweep(count, [&](std::size_t i, auto lanes)
                   HWY_ATTR { store(hn::Mul(load(x + i, lanes), factor), y + i, lanes); });
}

void moving_average_range(const MovingAverage& args, Range range) {
  const Vector decay = hn::Set(F32(), static_cast<float>(args.decay));
  const Vector fresh = hn::Set(F32(), static_cast<float>((1 - args.decay) * args.factor));
  const float* const running = args.running + range.begin;
  const float* const batch = args.batch + range.begin;
  float* const y = args.y + range.begin;
  const auto count = static_cast<std::size_t>(range.count());
  sweep(count, [&](std::size_t i, auto lanes) HWY_ATTR {
    const Vector kept = hn::Mul(decay, load(running + i, lanes));
    store(hn::MulAdd(fresh, load(batch + i, lanes), kept), y + i, lanes);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::cpu {

HWY_EXPORT(add_range);
HWY_EXPORT(multiply_range);
HWY_EXPORT(scale_range);
HWY_EXPORT(moving_average_range);

void add(ThreadTeam& team, const Binary& args) {
  team.for_ranges(args.count, kElementGrain, [&](Range range) {
    HWY_DYNAMIC_DISPATCH(add_range)(args, range);
  });
}

void multiply(ThreadTeam& team, const Binary& args) {
  team.for_ranges(args.count, kElementGrain, [&](Range range) {
    HWY_DYNAMIC_DISPATCH(multiply_range)(args, range);
  });
}

void scale(ThreadTeam& team, const Scale& args) {
  team.for_ranges(args.count, kElementGrain, [&](Range range) {
    HWY_DYNAMIC_DISPATCH(scale_range)(args, range);
  });
}

void moving_averages(ThreadTeam& team, std::span<const MovingAverage> averages) {
  std::int64_t total = 0;
  for (const MovingAverage& average : averages) {
    total += average.count;
  }
  team.for_ranges(total, kElementGrain, [&](Range range) {
    std::int64_t first = 0;
    for (const MovingAverage& average : averages) {
      const Range own{.begin = std::max(range.begin - first, std::int64_t{0}),
                      .end = std::min(range.end - first, average.count)};
      if (own.count() > 0) {
        HWY_DYNAMIC_DISPATCH(moving_average_range)(average, own);
      }
      first += average.count;
    }
  });
}

void zero_bytes(ThreadTeam& team, void* memory, std::size_t bytes) {
  constexpr std::int64_t kPageBytes = 4096;
  auto* const begin = static_cast<unsigned char*>(memory);
  team.for_ranges(static_cast<std::int64_t>(bytes), kPageBytes, [&](Range range) {
    std::memset(begin + range.begin, 0, static_cast<std::size_t>(range.count()));
  });
}

}  // namespace bench::cpu
#endif  // HWY_ONCE
