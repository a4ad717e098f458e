#pragma once

#include "kernels/cuda/device/device_api.h"
#include "models/base/dtype.h"
#include "models/base/errors.h"

namespace bench::cuda {

// Elements in memory are float, __half or __nv_bfloat16; kernels compute in float.

__device__ inline float widened(float value) { return value; }
__device__ inline float widened(__half value) { return __half2float(value); }
__device__ inline float widened(__nv_bfloat16 value) { return __bfloat162float(value); }

/// Rounds to nearest, ties to even.
template <class T>
__device__ T narrowed(float value);
template <>
__device__ inline float narrowed<float>(float value) {
  return value;
}
template <>
__device__ inline __half narrowed<__half>(float value) {
  return __float2half_rn(value);
}
template <>
__device__ inline __nv_bfloat16 narrowed<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

/// N adjacent elements, read or written at once; N * sizeof(T) is 2, 4, 8 or 16.
template <class T, int N>
struct alignas(N * sizeof(T)) Pack {
  T values[N];
};

/// Loads a pack; the address must be aligned to the whole pack.
template <int N, class T>
__device__ Pack<T, N> load_pack(const T* from) {
#ifdef BENCH_EMULATED_GPU
  emulator::check_aligned(from, N * sizeof(T));
#endif
  return *reinterpret_cast<const Pack<T, N>*>(from);
}

template <int N, class T>
__device__ void store_pack(T* to, const Pack<T, N>& pack) {
#ifdef BENCH_EMULATED_GPU
  emulator::check_aligned(to, N * sizeof(T));
#endif
  *reinterpret_cast<Pack<T, N>*>(to) = pack;
}

/// The maximum number of elements that one lane reads at once: 16 bytes.
template <class T>
inline constexpr int kWidest = 16 / static_cast<int>(sizeof(T));

template <class T>
struct ElementTag {
  using type = T;
};

/// Calls `body` with the ElementTag of a type; throws InternalError for a type that kernels do not
/// support.
template <class Body>
decltype(auto) with_element(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::f32:
      return body(ElementTag<float>{});
    case DType::f16:
      return body(ElementTag<__half>{});
    case DType::bf16:
      return body(ElementTag<__nv_bfloat16>{});
    default:
      throw InternalError(fmt::format("cuda: {} has no kernels", name_of(dtype)));
  }
}

/// The number of blocks for `elements` elements, at least 1.
inline unsigned blocks_for(std::int64_t elements, std::int64_t per_block) {
  return static_cast<unsigned>(elements <= per_block ? 1 : (elements + per_block - 1) / per_block);
}

}  // namespace bench::cuda
