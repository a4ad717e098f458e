// The transforms of F(4x4, 3x3) along one axis, on vectors of the channels of a block. Their
// matrices are named as by Lavin and Gray. Compiled once per instruction set: see winograd_avx2.cc.

namespace bench::cpu::BENCH_WINOGRAD_TARGET {
namespace {

/// B^T d of Lavin and Gray. The elements are `step` apart.
BENCH_TARGET_INLINE void transform_input(const Vector* d, Vector* to, std::ptrdiff_t step) {
  const Vector a2 = all(kA2);
  const Vector b2 = all(kB2);
  const Vector sum = all(kA2 + kB2);
  const Vector product = all(kA2 * kB2);
  const Vector d1 = d[step];
  const Vector d2 = d[2 * step];
  const Vector d3 = d[3 * step];
  const Vector d4 = d[4 * step];
  const Vector even_a = neg_mul_add(b2, d2, d4);
  const Vector odd_a = neg_mul_add(b2, d1, d3);
  const Vector even_b = neg_mul_add(a2, d2, d4);
  const Vector odd_b = neg_mul_add(a2, d1, d3);
  to[0] = mul_add(product, d[0], neg_mul_add(sum, d2, d4));
  to[step] = mul_add(all(kA), odd_a, even_a);
  to[2 * step] = neg_mul_add(all(kA), odd_a, even_a);
  to[3 * step] = mul_add(all(kB), odd_b, even_b);
  to[4 * step] = neg_mul_add(all(kB), odd_b, even_b);
  to[5 * step] = mul_add(product, d1, neg_mul_add(sum, d3, d[5 * step]));
}

/// G g.
BENCH_TARGET_INLINE void transform_filter(const Vector* g, Vector* to, std::ptrdiff_t from_step,
                                          std::ptrdiff_t to_step) {
  constexpr float kOfA = 1 / (2 * kA2 * (kA2 - kB2));
  constexpr float kOfB = 1 / (2 * kB2 * (kB2 - kA2));
  const Vector g0 = g[0];
  const Vector g1 = g[from_step];
  const Vector g2 = g[2 * from_step];
  const Vector even_a = mul_add(all(kA2 * kOfA), g2, mul(all(kOfA), g0));
  const Vector even_b = mul_add(all(kB2 * kOfB), g2, mul(all(kOfB), g0));
  to[0] = mul(all(1 / (kA2 * kB2)), g0);
  to[to_step] = mul_add(all(kA * kOfA), g1, even_a);
  to[2 * to_step] = neg_mul_add(all(kA * kOfA), g1, even_a);
  to[3 * to_step] = mul_add(all(kB * kOfB), g1, even_b);
  to[4 * to_step] = neg_mul_add(all(kB * kOfB), g1, even_b);
  to[5 * to_step] = g2;
}

/// A^T m.
BENCH_TARGET_INLINE void transform_output(const Vector* m, Vector* to, std::ptrdiff_t from_step,
                                          std::ptrdiff_t to_step) {
  const Vector sum_a = add(m[from_step], m[2 * from_step]);
  const Vector odd_a = sub(m[from_step], m[2 * from_step]);
  const Vector sum_b = add(m[3 * from_step], m[4 * from_step]);
  const Vector odd_b = sub(m[3 * from_step], m[4 * from_step]);
  to[0] = add(add(m[0], sum_a), sum_b);
  to[to_step] = mul_add(all(kB), odd_b, mul(all(kA), odd_a));
  to[2 * to_step] = mul_add(all(kB2), sum_b, mul(all(kA2), sum_a));
  to[3 * to_step] = mul_add(all(kB2 * kB), odd_b, mul_add(all(kA2 * kA), odd_a, m[5 * from_step]));
}

/// G^T u: the transpose of transform_filter.
BENCH_TARGET_INLINE void transpose_filter(const Vector* u, Vector* to, std::ptrdiff_t from_step,
                                          std::ptrdiff_t to_step) {
  constexpr float kOfA = 1 / (2 * kA2 * (kA2 - kB2));
  constexpr float kOfB = 1 / (2 * kB2 * (kB2 - kA2));
  const Vector sum_a = add(u[from_step], u[2 * from_step]);
  const Vector odd_a = sub(u[from_step], u[2 * from_step]);
  const Vector sum_b = add(u[3 * from_step], u[4 * from_step]);
  const Vector odd_b = sub(u[3 * from_step], u[4 * from_step]);
  to[0] = mul_add(all(1 / (kA2 * kB2)), u[0], mul_add(all(kOfA), sum_a, mul(all(kOfB), sum_b)));
  to[to_step] = mul_add(all(kA * kOfA), odd_a, mul(all(kB * kOfB), odd_b));
  to[2 * to_step] =
      mul_add(all(kA2 * kOfA), sum_a, mul_add(all(kB2 * kOfB), sum_b, u[5 * from_step]));
}

/// A y: the transpose of transform_output.
BENCH_TARGET_INLINE void transpose_output(const Vector* y, Vector* to, std::ptrdiff_t from_step,
                                          std::ptrdiff_t to_step) {
  const Vector y0 = y[0];
  const Vector y1 = y[from_step];
  const Vector y2 = y[2 * from_step];
  const Vector y3 = y[3 * from_step];
  const Vector even_a = mul_add(all(kA2), y2, y0);
  const Vector odd_a = mul_add(all(kA2), y3, y1);
  const Vector even_b = mul_add(all(kB2), y2, y0);
  const Vector odd_b = mul_add(all(kB2), y3, y1);
  to[0] = y0;
  to[to_step] = mul_add(all(kA), odd_a, even_a);
  to[2 * to_step] = neg_mul_add(all(kA), odd_a, even_a);
  to[3 * to_step] = mul_add(all(kB), odd_b, even_b);
  to[4 * to_step] = neg_mul_add(all(kB), odd_b, even_b);
  to[5 * to_step] = y3;
}

}  // namespace
}  // namespace bench::cpu::BENCH_WINOGRAD_TARGET
