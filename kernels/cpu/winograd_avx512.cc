#include "kernels/cpu/winograd_passes.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <utility>

#include "models/base/half.h"

// The passes on vectors of AVX-512. Intrinsics, because sums and tiles are arrays of vectors.
#define BENCH_WINOGRAD_TARGET avx512
#define BENCH_TARGET __attribute__((target("avx512f")))
#define BENCH_TARGET_INLINE BENCH_TARGET __attribute__((always_inline)) inline

namespace bench::cpu::avx512 {
namespace {

using Vector = __m512;
/// The floats of a vector: the channels of a block.
constexpr std::int64_t kLanes = 16;
constexpr int kMostVectors = winograd_vectors(kLanes);
/// The gradient's matrix product in registers: input channels times vectors of output channels.
constexpr int kGradientRows = 4;
constexpr int kGradientVectors = 4;

BENCH_TARGET_INLINE Vector load(const float* from) { return _mm512_loadu_ps(from); }
BENCH_TARGET_INLINE void store(float* to, Vector a) { _mm512_storeu_ps(to, a); }
BENCH_TARGET_INLINE Vector zeros() { return _mm512_setzero_ps(); }
BENCH_TARGET_INLINE Vector all(float value) { return _mm512_set1_ps(value); }
BENCH_TARGET_INLINE Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
BENCH_TARGET_INLINE Vector sub(Vector a, Vector b) { return _mm512_sub_ps(a, b); }
BENCH_TARGET_INLINE Vector mul(Vector a, Vector b) { return _mm512_mul_ps(a, b); }
/// c + a * b and c - a * b.
BENCH_TARGET_INLINE Vector mul_add(Vector a, Vector b, Vector c) {
  return _mm512_fmadd_ps(a, b, c);
}
BENCH_TARGET_INLINE Vector neg_mul_add(Vector a, Vector b, Vector c) {
  return _mm512_fnmadd_ps(a, b, c);
}
// Masks, because GCC 12 warns about some plain forms.
constexpr __mmask16 kAllLanes = 0xFFFF;
/// If one of them is NaN: b.
BENCH_TARGET_INLINE Vector larger(Vector a, Vector b) {
  return _mm512_mask_max_ps(b, kAllLanes, a, b);
}
BENCH_TARGET_INLINE Vector smaller(Vector a, Vector b) {
  return _mm512_mask_min_ps(b, kAllLanes, a, b);
}

constexpr unsigned kHalfBits = 16;
BENCH_TARGET_INLINE __m512i upper_halves(__m512i words) {
  return _mm512_maskz_srli_epi32(kAllLanes, words, kHalfBits);
}
BENCH_TARGET_INLINE Vector load(const Bfloat16* from) {
  const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  const __m512i words = _mm512_maskz_cvtepu16_epi32(kAllLanes, halves);
  return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(kAllLanes, words, kHalfBits));
}
/// Rounds to nearest, ties to even, as narrow_to_bfloat16() of lanes-inl.h.
BENCH_TARGET_INLINE void store(Bfloat16* to, Vector a) {
  const __m512i bits = _mm512_castps_si512(a);
  const __m512i odd = _mm512_and_si512(upper_halves(bits), _mm512_set1_epi32(1));
  const __m512i nearest = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), odd);
  const __m512i halves = _mm512_mask_mov_epi32(
      upper_halves(nearest), _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), _mm512_set1_epi32(0x7FC0));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm512_maskz_cvtepi32_epi16(kAllLanes, halves));
}

}  // namespace
}  // namespace bench::cpu::avx512

#include "kernels/cpu/winograd_transforms-inl.h"
// Uses the transforms.
#include "kernels/cpu/winograd_passes-inl.h"
// Uses the passes.
#include "kernels/cpu/winograd_gradient_passes-inl.h"

#undef BENCH_WINOGRAD_TARGET
#undef BENCH_TARGET
#undef BENCH_TARGET_INLINE

namespace bench::cpu {

extern const WinogradPasses avx512::kWinogradPasses = avx512::passes_for<float>();
extern const WinogradPasses avx512::kBfloat16WinogradPasses = avx512::passes_for<Bfloat16>();

}  // namespace bench::cpu
#endif
