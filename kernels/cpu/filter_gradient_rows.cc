#include "kernels/cpu/filter_gradient_rows.h"

#include <algorithm>
#include <cstring>

#include "models/base/errors.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench::cpu {

#if defined(__x86_64__)

// Intrinsics, because highway 1.0.3 has no dot product of bf16 pairs for x86, and because the sums
// are an array of vectors. Only the bf16 code uses the bf16 instructions.
#define BENCH_AVX512 __attribute__((target("avx512f,avx512bw,avx512bf16")))
#define BENCH_AVX512_INLINE BENCH_AVX512 __attribute__((always_inline)) inline

namespace {

constexpr int kTaps = 3;
/// Channels of x whose sums are in registers at a time: 3 x 8 of the 32 that there are. Loading and
/// storing them costs 48 accesses, so they stay there for all rows of a call.
constexpr int kChannels = 8;
constexpr std::int64_t kLaneBytes = kPixelBytes / kPixelLanes;

BENCH_AVX512_INLINE __m512i broadcast_word(const std::byte* from) {
  int word = 0;
  std::memcpy(&word, from, sizeof(word));
  return _mm512_set1_epi32(word);
}

struct F32 {
  BENCH_AVX512_INLINE static __m512 multiply_add(__m512i dy, __m512i x, __m512 sum) {
    return _mm512_fmadd_ps(_mm512_castsi512_ps(dy), _mm512_castsi512_ps(x), sum);
  }
};

struct Bf16Pairs {
  BENCH_AVX512_INLINE static __m512 multiply_add(__m512i dy, __m512i x, __m512 sum) {
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(dy), reinterpret_cast<__m512bh>(x));
  }
};

template <class Element>
struct Sums {
  __m512 of[kTaps][kChannels];

  BENCH_AVX512_INLINE void load(const float* dw) {
#pragma GCC unroll 3
    for (int tap = 0; tap < kTaps; ++tap) {
#pragma GCC unroll 8
      for (int i = 0; i < kChannels; ++i) {
        of[tap][i] = _mm512_loadu_ps(dw + (tap * kPixelLanes + i) * kPixelLanes);
      }
    }
  }
  BENCH_AVX512_INLINE void store(float* dw) const {
#pragma GCC unroll 3
    for (int tap = 0; tap < kTaps; ++tap) {
#pragma GCC unroll 8
      for (int i = 0; i < kChannels; ++i) {
        _mm512_storeu_ps(dw + (tap * kPixelLanes + i) * kPixelLanes, of[tap][i]);
      }
    }
  }
  /// Adds one pixel of dy for the taps kFrom to kTo - 1; x is the pixel under the first of them.
  template <int kFrom, int kTo>
  BENCH_AVX512_INLINE void add_pixel(const std::byte* dy, const std::byte* x) {
    // Keeps the compiler from carrying broadcasts from pixel to pixel, which costs it registers.
    asm volatile("" : "+r"(x));
    const __m512i outputs = _mm512_loadu_si512(dy);
#pragma GCC unroll 3
    for (int tap = kFrom; tap < kTo; ++tap) {
#pragma GCC unroll 8
      for (int i = 0; i < kChannels; ++i) {
        const __m512i input = broadcast_word(x + (tap - kFrom) * kPixelBytes + i * kLaneBytes);
        of[tap][i] = Element::multiply_add(outputs, input, of[tap][i]);
      }
    }
  }
};

template <class Element, int kStride>
BENCH_AVX512 void add_channels(const RowShape& shape, std::span<const RowPair> rows, int channel,
                               float* dw) {
  Sums<Element> sums;
  sums.load(dw);
  const std::int64_t end = shape.out_width - (shape.last_is_cut ? 1 : 0);
  for (const RowPair& row : rows) {
    const std::byte* dy = row.dy;
    const std::byte* x = row.x + channel * kLaneBytes;
    std::int64_t column = 0;
    if (shape.first_is_cut) {
      sums.template add_pixel<1, kTaps>(dy, x);
      ++column;
      dy += kPixelBytes;
      x += (kStride - 1) * kPixelBytes;
    }
    for (; column < end; ++column) {
      sums.template add_pixel<0, kTaps>(dy, x);
      dy += kPixelBytes;
      x += kStride * kPixelBytes;
    }
    if (shape.last_is_cut) {
      sums.template add_pixel<0, kTaps - 1>(dy, x);
    }
  }
  sums.store(dw);
}

template <class Element>
void add_rows(const RowShape& shape, std::span<const RowPair> rows, float* dw) {
  for (int channel = 0; channel < kPixelLanes; channel += kChannels) {
    float* const part = dw + channel * kPixelLanes;
    if (shape.stride == 1) {
      add_channels<Element, 1>(shape, rows, channel, part);
    } else {
      add_channels<Element, 2>(shape, rows, channel, part);
    }
  }
}

}  // namespace

void add_filter_gradient_f32(const RowShape& shape, std::span<const RowPair> rows, float* dw) {
  add_rows<F32>(shape, rows, dw);
}

void add_filter_gradient_bf16(const RowShape& shape, std::span<const RowPair> rows, float* dw) {
  add_rows<Bf16Pairs>(shape, rows, dw);
}

BENCH_AVX512 void pack_bf16_pixels(const std::uint16_t* first, const std::uint16_t* second,
                                   std::int64_t pixels, std::uint32_t* to) {
  const std::int64_t words = pixels * kPixelLanes;
  if (second == nullptr) {
    std::copy_n(first, words, to);
    return;
  }
  for (std::int64_t i = 0; i < words; ++i) {
    to[i] = first[i] | std::uint32_t{second[i]} << 16;
  }
}

#undef BENCH_AVX512_INLINE
#undef BENCH_AVX512

#else  // Nobody runs a plan on a processor without the instructions.

void add_filter_gradient_f32(const RowShape&, std::span<const RowPair>, float*) {
  check(false, "filter_gradient: not an x86-64 processor");
}
void add_filter_gradient_bf16(const RowShape&, std::span<const RowPair>, float*) {
  check(false, "filter_gradient: not an x86-64 processor");
}
void pack_bf16_pixels(const std::uint16_t*, const std::uint16_t*, std::int64_t, std::uint32_t*) {
  check(false, "filter_gradient: not an x86-64 processor");
}

#endif

}  // namespace bench::cpu
