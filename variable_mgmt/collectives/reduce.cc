#include "variable_mgmt/collectives/reduce.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "variable_mgmt/collectives/reduce.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

using F64 = hn::ScalableTag<double>;

/// One full or partial vector of sums.
template <class T, class Lanes>
HWY_INLINE void reduce_vector(const ReduceArgs& args, std::size_t i, Lanes lanes) {
  Vector sum = load(static_cast<const T*>(args.sources[0]) + i, lanes);
  for (std::size_t s = 1; s < args.sources.size(); ++s) {
    sum = hn::Add(sum, load(static_cast<const T*>(args.sources[s]) + i, lanes));
  }
  for (void* const target : args.targets) {
    store(sum, static_cast<T*>(target) + i, lanes);
  }
}

/// Two sources, as in most algorithms, with eight loads in flight.
template <class T>
void reduce_two(const ReduceArgs& args) {
  const T* const a = static_cast<const T*>(args.sources[0]);
  const T* const b = static_cast<const T*>(args.sources[1]);
  const std::size_t lanes = hn::Lanes(F32());
  const std::size_t step = 4 * lanes;
  std::size_t i = 0;
  for (; i + step <= args.count; i += step) {
    const Vector s0 = hn::Add(load(a + i, Whole{}), load(b + i, Whole{}));
    const Vector s1 = hn::Add(load(a + i + lanes, Whole{}), load(b + i + lanes, Whole{}));
    const Vector s2 = hn::Add(load(a + i + 2 * lanes, Whole{}), load(b + i + 2 * lanes, Whole{}));
    const Vector s3 = hn::Add(load(a + i + 3 * lanes, Whole{}), load(b + i + 3 * lanes, Whole{}));
    for (void* const target : args.targets) {
      T* const to = static_cast<T*>(target) + i;
      store(s0, to, Whole{});
      store(s1, to + lanes, Whole{});
      store(s2, to + 2 * lanes, Whole{});
      store(s3, to + 3 * lanes, Whole{});
    }
  }
  for (; i + lanes <= args.count; i += lanes) {
    reduce_vector<T>(args, i, Whole{});
  }
  if (i < args.count) {
    reduce_vector<T>(args, i, Part{args.count - i});
  }
}

template <class T>
void reduce_elements(const ReduceArgs& args) {
  if (args.sources.size() == 2) {
    return reduce_two<T>(args);
  }
  sweep(args.count, [&](std::size_t i, auto lanes) HWY_ATTR { reduce_vector<T>(args, i, lanes); });
}

void reduce_doubles(const ReduceArgs& args) {
  const auto add = [&](std::size_t i, auto lanes) HWY_ATTR {
    const F64 d;
    auto sum = load_lanes(d, static_cast<const double*>(args.sources[0]) + i, lanes);
    for (std::size_t s = 1; s < args.sources.size(); ++s) {
      sum = hn::Add(sum, load_lanes(d, static_cast<const double*>(args.sources[s]) + i, lanes));
    }
    for (void* const target : args.targets) {
      store_lanes(sum, d, static_cast<double*>(target) + i, lanes);
    }
  };
  const std::size_t lanes = hn::Lanes(F64());
  std::size_t i = 0;
  for (; i + lanes <= args.count; i += lanes) {
    add(i, Whole{});
  }
  if (i < args.count) {
    add(i, Part{args.count - i});
  }
}

void reduce_range(const ReduceArgs& args) {
  if (args.dtype == DType::f64) {
    return reduce_doubles(args);
  }
  with_element(args.dtype, [&](auto type) HWY_ATTR { reduce_elements<decltype(type)>(args); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench {
namespace cpu {

HWY_EXPORT(reduce_range);

namespace {

/// Requires at least two sources.
void reduce_dispatched(const ReduceArgs& args) { HWY_DYNAMIC_DISPATCH(reduce_range)(args); }

}  // namespace
}  // namespace cpu

void reduce(const ReduceArgs& args) {
  check(!args.sources.empty() && is_floating(args.dtype),
        fmt::format(
            "reduce: there are {} sources of {}; accepted: at least one, of a floating-point type",
            args.sources.size(), name_of(args.dtype)));
  if (args.sources.size() == 1) {
    for (void* const target : args.targets) {
      if (target != args.sources[0]) {
        std::memcpy(target, args.sources[0], args.count * size_of(args.dtype));
      }
    }
    return;
  }
  cpu::reduce_dispatched(args);
}

}  // namespace bench
#endif  // HWY_ONCE
