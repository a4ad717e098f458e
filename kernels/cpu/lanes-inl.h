// Vectors of f32, and their loads from and stores to memory with f32, bf16 or f16 elements. Like
// vector-inl.h, which includes it, this file is compiled once per target.

#if defined(BENCH_KERNELS_CPU_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BENCH_KERNELS_CPU_LANES_INL_H_
#undef BENCH_KERNELS_CPU_LANES_INL_H_
#else
#define BENCH_KERNELS_CPU_LANES_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "models/base/half.h"

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using F32 = hn::ScalableTag<float>;
using Vector = hn::Vec<F32>;
/// The bits of as many elements of 32 and of 16 bits as a Vector has lanes.
using U32 = hn::RebindToUnsigned<F32>;
using Words = hn::Vec<U32>;
using U16 = hn::Rebind<std::uint16_t, F32>;
using Halves = hn::Vec<U16>;

/// The lanes of a vector that a load or store accesses: all, or the first few. Memory after them is
/// neither read nor written; loads fill the other lanes with zeros.
struct Whole {};
struct Part {
  std::size_t lanes;
};

/// True if masked loads and stores of T leave memory outside the mask alone; otherwise highway
/// reads and writes it.
template <class T>
inline constexpr bool kMasksProtectMemory =
#if HWY_TARGET == HWY_SVE || HWY_TARGET == HWY_SVE2 || HWY_TARGET == HWY_SVE_256 || \
    HWY_TARGET == HWY_SVE2_128 || HWY_TARGET == HWY_RVV
    true;
#else
    HWY_TARGET <= (sizeof(T) >= sizeof(float) ? HWY_AVX2 : HWY_AVX3);
#endif

template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_lanes(D d, const T* from, Whole) {
  return hn::LoadU(d, from);
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_lanes(D d, const T* from, Part part) {
  if constexpr (kMasksProtectMemory<T>) {
    return hn::MaskedLoad(hn::FirstN(d, part.lanes), d, from);
  } else {
    HWY_ALIGN T lanes[hn::MaxLanes(d)] = {};
    for (std::size_t i = 0; i < part.lanes; ++i) {
      lanes[i] = from[i];
    }
    return hn::Load(d, lanes);
  }
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_lanes(hn::Vec<D> value, D d, T* to, Whole) {
  hn::StoreU(value, d, to);
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_lanes(hn::Vec<D> value, D d, T* to, Part part) {
  if constexpr (kMasksProtectMemory<T>) {
    hn::BlendedStore(value, hn::FirstN(d, part.lanes), d, to);
  } else {
    HWY_ALIGN T lanes[hn::MaxLanes(d)];
    hn::Store(value, d, lanes);
    for (std::size_t i = 0; i < part.lanes; ++i) {
      to[i] = lanes[i];
    }
  }
}

HWY_INLINE Words bits_of(Vector value) { return hn::BitCast(U32(), value); }
HWY_INLINE Vector float_of(Words bits) { return hn::BitCast(F32(), bits); }
HWY_INLINE Words word(std::uint32_t value) { return hn::Set(U32(), value); }
/// Words below 2^16.
HWY_INLINE Halves halves_of(Words words) {
  return hn::DemoteTo(U16(), hn::BitCast(hn::RebindToSigned<F32>(), words));
}

HWY_INLINE Vector widen_bfloat16(Halves halves) {
  return float_of(hn::ShiftLeft<16>(hn::PromoteTo(U32(), halves)));
}

HWY_INLINE Halves upper_halves(Words words) {
#if HWY_TARGET <= HWY_AVX3
  const hn::Repartition<std::uint16_t, U32> d;
  const auto halves = hn::BitCast(d, words);
  return hn::LowerHalf(hn::ConcatOdd(d, halves, halves));
#else
  return halves_of(hn::ShiftRight<16>(words));
#endif
}

/// Rounds to nearest, ties to even. The conversion instructions of some processors flush subnormal
/// numbers to zero.
HWY_INLINE Halves narrow_to_bfloat16(Vector value) {
  const Words bits = bits_of(value);
  // Slightly less than half a unit of the last place, and slightly more after an odd one.
  const Words odd = hn::And(hn::ShiftRight<16>(bits), word(1));
  const Words nearest = hn::Add(hn::Add(bits, word(0x7FFF)), odd);
  const Vector nan = float_of(word(0x7FC00000));
  return upper_halves(bits_of(hn::IfThenElse(hn::IsNaN(value), nan, float_of(nearest))));
}

#if HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)

using F16 = hn::Rebind<hwy::float16_t, F32>;

HWY_INLINE Vector widen_float16(Halves halves) {
  return hn::PromoteTo(F32(), hn::BitCast(F16(), halves));
}
HWY_INLINE Halves narrow_to_float16(Vector value) {
  return hn::BitCast(U16(), hn::DemoteTo(F16(), value));
}

#else  // Where highway's own emulation truncates.

HWY_INLINE Vector widen_float16(Halves halves) {
  constexpr std::uint32_t kRebias = (127U - 15U) << 23;
  const Words bits = hn::PromoteTo(U32(), halves);
  const Words sign = hn::ShiftLeft<16>(hn::And(bits, word(0x8000)));
  const Words magnitude = hn::ShiftLeft<13>(hn::And(bits, word(0x7FFF)));
  const Vector normal = float_of(hn::Add(magnitude, word(kRebias)));
  // Infinity and NaN: both have an exponent of all ones.
  const Vector special = float_of(hn::Or(magnitude, word(0x7F800000)));
  // A subnormal number is its fraction in units of 2^-24: the fraction of a number between 2^-14
  // and 2^-13, less 2^-14.
  const Vector least = float_of(word(113U << 23));
  const Vector subnormal = hn::Sub(float_of(hn::Or(magnitude, word(113U << 23))), least);
  const Vector finite = hn::IfThenElse(hn::Lt(normal, least), subnormal, normal);
  const Vector largest = float_of(word(143U << 23));
  const Vector wide = hn::IfThenElse(hn::Ge(normal, largest), special, finite);
  return float_of(hn::Or(bits_of(wide), sign));
}

/// To nearest, ties to even.
HWY_INLINE Halves narrow_to_float16(Vector value) {
  constexpr std::uint32_t kRebias = (127U - 15U) << 23;
  const Words bits = bits_of(value);
  const Words sign = hn::And(bits, word(0x80000000));
  const Words magnitude = hn::Xor(bits, sign);
  const Words odd = hn::And(hn::ShiftRight<13>(magnitude), word(1));
  const Words half = hn::Add(word(0xFFF), odd);
  const Words normal = hn::ShiftRight<13>(hn::Add(hn::Sub(magnitude, word(kRebias)), half));
  // After adding 1/2, the last place is 2^-24, the unit of a subnormal number.
  const Vector anchor = float_of(word(126U << 23));
  const Words subnormal = hn::Sub(bits_of(hn::Add(float_of(magnitude), anchor)), bits_of(anchor));
  const Vector size = float_of(magnitude);
  const Vector least = float_of(word(113U << 23));
  const Vector finite = hn::IfThenElse(hn::Lt(size, least), float_of(subnormal), float_of(normal));
  const Vector largest = float_of(word(143U << 23));
  const Vector bounded = hn::IfThenElse(hn::Ge(size, largest), float_of(word(0x7C00)), finite);
  const Words narrow = bits_of(hn::IfThenElse(hn::IsNaN(value), float_of(word(0x7E00)), bounded));
  return halves_of(hn::Or(narrow, hn::ShiftRight<16>(sign)));
}

#endif

template <class Lanes>
HWY_INLINE Vector load(const float* from, Lanes lanes) {
  return load_lanes(F32(), from, lanes);
}
template <class Lanes>
HWY_INLINE Vector load(const Bfloat16* from, Lanes lanes) {
  return widen_bfloat16(load_lanes(U16(), &from->bits, lanes));
}
template <class Lanes>
HWY_INLINE Vector load(const Float16* from, Lanes lanes) {
  return widen_float16(load_lanes(U16(), &from->bits, lanes));
}

template <class Lanes>
HWY_INLINE void store(Vector value, float* to, Lanes lanes) {
  store_lanes(value, F32(), to, lanes);
}
template <class Lanes>
HWY_INLINE void store(Vector value, Bfloat16* to, Lanes lanes) {
  store_lanes(narrow_to_bfloat16(value), U16(), &to->bits, lanes);
}
template <class Lanes>
HWY_INLINE void store(Vector value, Float16* to, Lanes lanes) {
  store_lanes(narrow_to_float16(value), U16(), &to->bits, lanes);
}

}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#endif  // BENCH_KERNELS_CPU_LANES_INL_H_
