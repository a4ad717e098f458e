#include "kernels/cpu/winograd_passes.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <utility>

// The passes on vectors of AVX2. Intrinsics, because sums and tiles are arrays of vectors.
#define BENCH_WINOGRAD_TARGET avx2
#define BENCH_TARGET __attribute__((target("avx2,fma")))
#define BENCH_TARGET_INLINE BENCH_TARGET __attribute__((always_inline)) inline

namespace bench::cpu::avx2 {
namespace {

using Vector = __m256;
/// The floats of a vector: the channels of a block.
constexpr std::int64_t kLanes = 8;
constexpr int kMostVectors = winograd_vectors(kLanes);
/// The gradient's matrix product in registers: input channels times vectors of output channels.
constexpr int kGradientRows = 4;
constexpr int kGradientVectors = 3;

BENCH_TARGET_INLINE Vector load(const float* from) { return _mm256_loadu_ps(from); }
BENCH_TARGET_INLINE void store(float* to, Vector a) { _mm256_storeu_ps(to, a); }
BENCH_TARGET_INLINE Vector zeros() { return _mm256_setzero_ps(); }
BENCH_TARGET_INLINE Vector all(float value) { return _mm256_set1_ps(value); }
BENCH_TARGET_INLINE Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
BENCH_TARGET_INLINE Vector sub(Vector a, Vector b) { return _mm256_sub_ps(a, b); }
BENCH_TARGET_INLINE Vector mul(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
/// c + a * b and c - a * b.
BENCH_TARGET_INLINE Vector mul_add(Vector a, Vector b, Vector c) {
  return _mm256_fmadd_ps(a, b, c);
}
BENCH_TARGET_INLINE Vector neg_mul_add(Vector a, Vector b, Vector c) {
  return _mm256_fnmadd_ps(a, b, c);
}
/// If one of them is NaN: b.
BENCH_TARGET_INLINE Vector larger(Vector a, Vector b) { return _mm256_max_ps(a, b); }
BENCH_TARGET_INLINE Vector smaller(Vector a, Vector b) { return _mm256_min_ps(a, b); }

}  // namespace
}  // namespace bench::cpu::avx2

#include "kernels/cpu/winograd_transforms-inl.h"
// Uses the transforms.
#include "kernels/cpu/winograd_passes-inl.h"
// Uses the passes.
#include "kernels/cpu/winograd_gradient_passes-inl.h"

#undef BENCH_WINOGRAD_TARGET
#undef BENCH_TARGET
#undef BENCH_TARGET_INLINE

namespace bench::cpu {

extern const WinogradPasses avx2::kWinogradPasses = avx2::passes_for<float>();

}  // namespace bench::cpu
#endif
