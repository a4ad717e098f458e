#pragma once

#include <immintrin.h>

#include <cstddef>

#include "kernels/cpu/winograd_passes.h"

// The transforms of F(4x4, 3x3) along one axis, on vectors of 16 channels. Their matrices are named
// as by Lavin and Gray.

// Intrinsics, because sums and tiles are arrays of vectors.
#define BENCH_AVX512 __attribute__((target("avx512f")))
#define BENCH_AVX512_INLINE BENCH_AVX512 __attribute__((always_inline)) inline

namespace bench::cpu {

inline constexpr std::ptrdiff_t kSide = 6;
inline constexpr std::ptrdiff_t kOutputs = 4;
inline constexpr std::ptrdiff_t kTaps = 3;

BENCH_AVX512_INLINE __m512 vector_of(float value) { return _mm512_set1_ps(value); }

// The points of the interpolation are 0, A, -A, B, -B and infinity. For these A and B the root mean
// square of the rounding errors is half of that for the usual 1 and 2.
inline constexpr float kA = 0.75F;
inline constexpr float kB = 1.5F;
inline constexpr float kA2 = kA * kA;
inline constexpr float kB2 = kB * kB;

/// B^T d of Lavin and Gray. The elements are `step` apart.
BENCH_AVX512_INLINE void transform_input(const __m512* d, __m512* to, std::ptrdiff_t step) {
  const __m512 a2 = vector_of(kA2);
  const __m512 b2 = vector_of(kB2);
  const __m512 sum = vector_of(kA2 + kB2);
  const __m512 product = vector_of(kA2 * kB2);
  const __m512 d1 = d[step];
  const __m512 d2 = d[2 * step];
  const __m512 d3 = d[3 * step];
  const __m512 d4 = d[4 * step];
  const __m512 even_a = _mm512_fnmadd_ps(b2, d2, d4);
  const __m512 odd_a = _mm512_fnmadd_ps(b2, d1, d3);
  const __m512 even_b = _mm512_fnmadd_ps(a2, d2, d4);
  const __m512 odd_b = _mm512_fnmadd_ps(a2, d1, d3);
  to[0] = _mm512_fmadd_ps(product, d[0], _mm512_fnmadd_ps(sum, d2, d4));
  to[step] = _mm512_fmadd_ps(vector_of(kA), odd_a, even_a);
  to[2 * step] = _mm512_fnmadd_ps(vector_of(kA), odd_a, even_a);
  to[3 * step] = _mm512_fmadd_ps(vector_of(kB), odd_b, even_b);
  to[4 * step] = _mm512_fnmadd_ps(vector_of(kB), odd_b, even_b);
  to[5 * step] = _mm512_fmadd_ps(product, d1, _mm512_fnmadd_ps(sum, d3, d[5 * step]));
}

/// G g.
BENCH_AVX512_INLINE void transform_filter(const __m512* g, __m512* to, std::ptrdiff_t from_step,
                                          std::ptrdiff_t to_step) {
  constexpr float kOfA = 1 / (2 * kA2 * (kA2 - kB2));
  constexpr float kOfB = 1 / (2 * kB2 * (kB2 - kA2));
  const __m512 g0 = g[0];
  const __m512 g1 = g[from_step];
  const __m512 g2 = g[2 * from_step];
  const __m512 even_a =
      _mm512_fmadd_ps(vector_of(kA2 * kOfA), g2, _mm512_mul_ps(vector_of(kOfA), g0));
  const __m512 even_b =
      _mm512_fmadd_ps(vector_of(kB2 * kOfB), g2, _mm512_mul_ps(vector_of(kOfB), g0));
  to[0] = _mm512_mul_ps(vector_of(1 / (kA2 * kB2)), g0);
  to[to_step] = _mm512_fmadd_ps(vector_of(kA * kOfA), g1, even_a);
  to[2 * to_step] = _mm512_fnmadd_ps(vector_of(kA * kOfA), g1, even_a);
  to[3 * to_step] = _mm512_fmadd_ps(vector_of(kB * kOfB), g1, even_b);
  to[4 * to_step] = _mm512_fnmadd_ps(vector_of(kB * kOfB), g1, even_b);
  to[5 * to_step] = g2;
}

/// A^T m.
BENCH_AVX512_INLINE void transform_output(const __m512* m, __m512* to, std::ptrdiff_t from_step,
                                          std::ptrdiff_t to_step) {
  const __m512 sum_a = _mm512_add_ps(m[from_step], m[2 * from_step]);
  const __m512 odd_a = _mm512_sub_ps(m[from_step], m[2 * from_step]);
  const __m512 sum_b = _mm512_add_ps(m[3 * from_step], m[4 * from_step]);
  const __m512 odd_b = _mm512_sub_ps(m[3 * from_step], m[4 * from_step]);
  to[0] = _mm512_add_ps(_mm512_add_ps(m[0], sum_a), sum_b);
  to[to_step] = _mm512_fmadd_ps(vector_of(kB), odd_b, _mm512_mul_ps(vector_of(kA), odd_a));
  to[2 * to_step] = _mm512_fmadd_ps(vector_of(kB2), sum_b, _mm512_mul_ps(vector_of(kA2), sum_a));
  to[3 * to_step] = _mm512_fmadd_ps(vector_of(kB2 * kB), odd_b,
                                    _mm512_fmadd_ps(vector_of(kA2 * kA), odd_a, m[5 * from_step]));
}

/// G^T u: the transpose of transform_filter.
BENCH_AVX512_INLINE void transpose_filter(const __m512* u, __m512* to, std::ptrdiff_t from_step,
                                          std::ptrdiff_t to_step) {
  constexpr float kOfA = 1 / (2 * kA2 * (kA2 - kB2));
  constexpr float kOfB = 1 / (2 * kB2 * (kB2 - kA2));
  const __m512 sum_a = _mm512_add_ps(u[from_step], u[2 * from_step]);
  const __m512 odd_a = _mm512_sub_ps(u[from_step], u[2 * from_step]);
  const __m512 sum_b = _mm512_add_ps(u[3 * from_step], u[4 * from_step]);
  const __m512 odd_b = _mm512_sub_ps(u[3 * from_step], u[4 * from_step]);
  to[0] = _mm512_fmadd_ps(
      vector_of(1 / (kA2 * kB2)), u[0],
      _mm512_fmadd_ps(vector_of(kOfA), sum_a, _mm512_mul_ps(vector_of(kOfB), sum_b)));
  to[to_step] =
      _mm512_fmadd_ps(vector_of(kA * kOfA), odd_a, _mm512_mul_ps(vector_of(kB * kOfB), odd_b));
  to[2 * to_step] =
      _mm512_fmadd_ps(vector_of(kA2 * kOfA), sum_a,
                      _mm512_fmadd_ps(vector_of(kB2 * kOfB), sum_b, u[5 * from_step]));
}

/// A y: the transpose of transform_output.
BENCH_AVX512_INLINE void transpose_output(const __m512* y, __m512* to, std::ptrdiff_t from_step,
                                          std::ptrdiff_t to_step) {
  const __m512 y0 = y[0];
  const __m512 y1 = y[from_step];
  const __m512 y2 = y[2 * from_step];
  const __m512 y3 = y[3 * from_step];
  const __m512 even_a = _mm512_fmadd_ps(vector_of(kA2), y2, y0);
  const __m512 odd_a = _mm512_fmadd_ps(vector_of(kA2), y3, y1);
  const __m512 even_b = _mm512_fmadd_ps(vector_of(kB2), y2, y0);
  const __m512 odd_b = _mm512_fmadd_ps(vector_of(kB2), y3, y1);
  to[0] = y0;
  to[to_step] = _mm512_fmadd_ps(vector_of(kA), odd_a, even_a);
  to[2 * to_step] = _mm512_fnmadd_ps(vector_of(kA), odd_a, even_a);
  to[3 * to_step] = _mm512_fmadd_ps(vector_of(kB), odd_b, even_b);
  to[4 * to_step] = _mm512_fnmadd_ps(vector_of(kB), odd_b, even_b);
  to[5 * to_step] = y3;
}

}  // namespace bench::cpu
