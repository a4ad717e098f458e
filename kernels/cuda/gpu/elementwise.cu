#include "kernels/cuda/gpu/elementwise.h"

#include "kernels/cuda/gpu/activation.h"
#include "kernels/cuda/gpu/element.h"
#include "kernels/cuda/gpu/element_walk.h"

namespace bench::cuda {
namespace {

template <class T>
__global__ void activation_kernel(ActivationKind kind, std::int64_t count, const T* x, T* y) {
  for_elements_of_lane<kWidest<T>>(count, [&](std::int64_t at, auto width) {
    constexpr int n = decltype(width)::value;
    Pack<T, n> pack = load_pack<n>(x + at);
    with_activation(kind, [&](auto tag) {
      for (int i = 0; i < n; ++i) {
        pack.values[i] = narrowed<T>(activated(decltype(tag)::value, widened(pack.values[i])));
      }
    });
    store_pack(y + at, pack);
  });
}

template <class T>
__global__ void activation_backward_kernel(ActivationKind kind, std::int64_t count, const T* dy,
                                           const T* v, T* dx) {
  for_elements_of_lane<kWidest<T>>(count, [&](std::int64_t at, auto width) {
    constexpr int n = decltype(width)::value;
    Pack<T, n> pack = load_pack<n>(dy + at);
    const Pack<T, n> values = load_pack<n>(v + at);
    with_activation(kind, [&](auto tag) {
      for (int i = 0; i < n; ++i) {
        const float slope = activation_slope(decltype(tag)::value, widened(values.values[i]));
        pack.values[i] = narrowed<T>(widened(pack.values[i]) * slope);
      }
    });
    store_pack(dx + at, pack);
  });
}

/// y = f(a, b).
template <class T, class F>
__global__ void binary_kernel(std::int64_t count, const T* a, const T* b, T* y, F f) {
  for_elements_of_lane<kWidest<T>>(count, [&](std::int64_t at, auto width) {
    constexpr int n = decltype(width)::value;
    const Pack<T, n> first = load_pack<n>(a + at);
    const Pack<T, n> second = load_pack<n>(b + at);
    Pack<T, n> result;
    for (int i = 0; i < n; ++i) {
      result.values[i] = narrowed<T>(f(widened(first.values[i]), widened(second.values[i])));
    }
    store_pack(y + at, result);
  });
}

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Product {
  __device__ float operator()(float a, float b) const { return a * b; }
};

template <class F>
void binary(cudaStream_t stream, const char* name, const Binary& args, F f) {
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch(stream, shape_for<kWidest<T>>(name, args.count), binary_kernel<T, F>, args.count,
           static_cast<const T*>(args.a), static_cast<const T*>(args.b), static_cast<T*>(args.y),
           f);
  });
}

/// The number of elements that fill 16 bytes of the larger type.
template <class From, class To>
constexpr int kCastWidth = kWidest<From> < kWidest<To> ? kWidest<From> : kWidest<To>;

template <class From, class To>
__global__ void cast_kernel(std::int64_t count, const From* __restrict__ x, To* __restrict__ y) {
  for_elements_of_lane<kCastWidth<From, To>>(count, [&](std::int64_t at, auto width) {
    constexpr int n = decltype(width)::value;
    const Pack<From, n> pack = load_pack<n>(x + at);
    Pack<To, n> result;
    for (int i = 0; i < n; ++i) {
      result.values[i] = narrowed<To>(widened(pack.values[i]));
    }
    store_pack(y + at, result);
  });
}

__global__ void copy_kernel(std::int64_t count, const unsigned char* __restrict__ x,
                            unsigned char* __restrict__ y) {
  for_elements_of_lane<kWidest<unsigned char>>(count, [&](std::int64_t at, auto width) {
    constexpr int n = decltype(width)::value;
    store_pack(y + at, load_pack<n>(x + at));
  });
}

}  // namespace

void activation(cudaStream_t stream, const Activation& args) {
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch(stream, shape_for<kWidest<T>>("activation", args.count), activation_kernel<T>, args.kind,
           args.count, static_cast<const T*>(args.x), static_cast<T*>(args.y));
  });
}

void activation_backward(cudaStream_t stream, const ActivationBackward& args) {
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    launch(stream, shape_for<kWidest<T>>("activation_backward", args.count),
           activation_backward_kernel<T>, args.kind, args.count, static_cast<const T*>(args.dy),
           static_cast<const T*>(args.v), static_cast<T*>(args.dx));
  });
}

void add(cudaStream_t stream, const Binary& args) { binary(stream, "add", args, Sum{}); }
void multiply(cudaStream_t stream, const Binary& args) {
  binary(stream, "multiply", args, Product{});
}

void cast(cudaStream_t stream, const Cast& args) {
  if (args.from == args.to) {
    return copy(stream, {.bytes = static_cast<std::size_t>(args.count) * size_of(args.from),
                         .x = args.x,
                         .y = args.y});
  }
  with_element(args.from, [&](auto from_tag) {
    with_element(args.to, [&](auto to_tag) {
      using From = typename decltype(from_tag)::type;
      using To = typename decltype(to_tag)::type;
      launch(stream, shape_for<kCastWidth<From, To>>("cast", args.count), cast_kernel<From, To>,
             args.count, static_cast<const From*>(args.x), static_cast<To*>(args.y));
    });
  });
}

void copy(cudaStream_t stream, const Copy& args) {
  if (args.x == args.y) {
    return;
  }
  const auto count = static_cast<std::int64_t>(args.bytes);
  launch(stream, shape_for<kWidest<unsigned char>>("copy", count), copy_kernel, count,
         static_cast<const unsigned char*>(args.x), static_cast<unsigned char*>(args.y));
}

}  // namespace bench::cuda
