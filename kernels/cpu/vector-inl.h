// Code that all vector files share, compiled once per target: include it after foreach_target.h. A
// vector is never a member, captured by value or an array element, so that SVE and RVV compile too.
// Lambdas carry HWY_ATTR.

#if defined(BENCH_KERNELS_CPU_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BENCH_KERNELS_CPU_VECTOR_INL_H_
#undef BENCH_KERNELS_CPU_VECTOR_INL_H_
#else
#define BENCH_KERNELS_CPU_VECTOR_INL_H_
#endif

#include <cstddef>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/cpu/lanes-inl.h"
#include "models/base/dtype.h"
#include "models/base/errors.h"

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {

/// Calls call(T{}) for the element type T: float, Bfloat16 or Float16. Throws InternalError for
/// other types.
template <class Call>
HWY_INLINE void with_element(DType dtype, const Call& call) {
  switch (dtype) {
    case DType::f32:
      return call(float{});
    case DType::bf16:
      return call(Bfloat16{});
    case DType::f16:
      return call(Float16{});
    default:
      check(false, fmt::format("vector kernels: unsupported element type {}", name_of(dtype)));
  }
}

/// max(value, 0) that keeps a NaN on every target, so that a broken loss is visible.
HWY_INLINE Vector relu(Vector value) {
  return hn::IfThenZeroElse(hn::Lt(value, hn::Zero(F32())), value);
}

/// min(max(value, 0), 6); keeps a NaN.
HWY_INLINE Vector relu6(Vector value) {
  const Vector six = hn::Set(F32(), 6.0F);
  return hn::IfThenElse(hn::Gt(value, six), six, relu(value));
}

/// `value` where `output` is positive, else 0.
HWY_INLINE Vector where_positive(Vector output, Vector value) {
  return hn::IfThenElseZero(hn::Gt(output, hn::Zero(F32())), value);
}

/// `value` where `output` is positive and below `limit`, else 0.
HWY_INLINE Vector where_below(Vector output, float limit, Vector value) {
  return hn::IfThenElseZero(hn::Lt(output, hn::Set(F32(), limit)), where_positive(output, value));
}

/// Calls body(i, lanes) for consecutive vectors that cover 0..count-1.
template <class Body>
HWY_INLINE void sweep(std::size_t count, const Body& body) {
  const std::size_t lanes = hn::Lanes(F32());
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    body(i, Whole{});
  }
  if (i < count) {
    body(i, Part{count - i});
  }
}

/// How many vectors one call of a traverse body handles.
template <int kVectors>
using Vectors = std::integral_constant<int, kVectors>;

/// Processing four rows at a time saves loads of per-channel values. This pays off for rows that
/// are close together, and for rows so wide that those values leave the first-level cache. In
/// between, reading four places in a page prevents hardware prefetching (half the speed at 256
/// channels on Zen 4).
constexpr bool four_rows_pay(std::size_t width) { return width <= 16 || width >= 2048; }

/// Traverses contiguous rows x width elements, four vectors of the same channels at a time if that
/// pays off. Calls body(Vectors<k>, offset, column, lanes, stride): k vectors, the q-th at offset +
/// q * stride, with per-channel values at `column`. With kPlane all elements belong to one channel:
/// width is 1, and column 0 is a whole vector of accumulators.
template <bool kPlane, class Body>
HWY_INLINE void traverse(std::size_t rows, std::size_t width, const Body& body) {
  if constexpr (kPlane) {
    const std::size_t lanes = hn::Lanes(F32());
    const std::size_t zero = 0;
    std::size_t i = 0;
    for (; i + 4 * lanes <= rows; i += 4 * lanes) {
      body(Vectors<4>{}, i, zero, Whole{}, lanes);
    }
    for (; i + lanes <= rows; i += lanes) {
      body(Vectors<1>{}, i, zero, Whole{}, lanes);
    }
    if (i < rows) {
      body(Vectors<1>{}, i, zero, Part{rows - i}, lanes);
    }
  } else {
    std::size_t row = 0;
    const std::size_t fours = four_rows_pay(width) ? rows / 4 * 4 : 0;
    for (; row < fours; row += 4) {
      sweep(width, [&](std::size_t column, auto lanes) HWY_ATTR {
        body(Vectors<4>{}, row * width + column, column, lanes, width);
      });
    }
    for (; row < rows; ++row) {
      sweep(width, [&](std::size_t column, auto lanes) HWY_ATTR {
        body(Vectors<1>{}, row * width + column, column, lanes, width);
      });
    }
  }
}

/// A vector with all lanes set to the value.
template <class T>
HWY_INLINE Vector all_lanes(const T* value) {
  if constexpr (std::is_same_v<T, float>) {
    return hn::Set(F32(), *value);
  } else {
    return hn::Set(F32(), hn::GetLane(load(value, Part{1})));
  }
}

/// A per-channel value for a traverse body.
template <bool kPlane, class T, class Lanes>
HWY_INLINE Vector channel_value(const T* values, std::size_t column, Lanes lanes) {
  if constexpr (kPlane) {
    return all_lanes(values);
  } else {
    return load(values + column, lanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#endif  // BENCH_KERNELS_CPU_VECTOR_INL_H_
