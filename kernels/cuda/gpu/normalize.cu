#include "kernels/cuda/gpu/normalize.h"

#include "kernels/cuda/gpu/element.h"
#include "kernels/cuda/gpu/element_walk.h"

namespace bench::cuda {
namespace {

/// No part of this can become a fused multiply-add: the bits are the same on every device.
template <class T>
__device__ T normalized(const Normalization& range, std::uint8_t pixel) {
  return narrowed<T>((static_cast<float>(pixel) - range.mean) / range.deviation);
}

/// The output keeps the input's order.
template <class T>
__global__ void normalize_kernel(Normalization range, std::int64_t count,
                                 const std::uint8_t* __restrict__ pixels, T* __restrict__ images) {
  for_elements_of_lane<kWidest<T>>(count, [&](std::int64_t at, auto width) {
    constexpr int n = decltype(width)::value;
    const Pack<std::uint8_t, n> pack = load_pack<n>(pixels + at);
    Pack<T, n> result;
    for (int i = 0; i < n; ++i) {
      result.values[i] = normalized<T>(range, pack.values[i]);
    }
    store_pack(images + at, result);
  });
}

/// The elements of one NCHW plane are `channels` apart in NHWC.
struct Planes {
  std::int64_t channels;
  std::int64_t spatial;
  unsigned blocks_per_image;
};

/// The pixels of three channels that a lane of normalize_colours_kernel takes. Their bytes form
/// three packs of kPixels.
constexpr int kColours = 3;
constexpr int kPixels = 4;

/// This lane's first pixel in its image; may be past the last pixel.
template <int kPerLane>
__device__ std::int64_t first_pixel(unsigned block) {
  return (std::int64_t{block} * kElementLanes + threadIdx.x) * kPerLane;
}

/// Converts to NCHW, for three channels and planes of a multiple of kPixels: a lane reads and
/// writes packs.
template <class T>
__global__ void normalize_colours_kernel(Normalization range, Planes planes,
                                         const std::uint8_t* __restrict__ pixels,
                                         T* __restrict__ images) {
  const unsigned image = blockIdx.x / planes.blocks_per_image;
  const std::int64_t first = first_pixel<kPixels>(blockIdx.x - image * planes.blocks_per_image);
  if (first >= planes.spatial) {
    return;
  }
  const std::int64_t origin = image * planes.spatial * kColours;
  Pack<std::uint8_t, kPixels> packs[kColours];
  for (int i = 0; i < kColours; ++i) {
    packs[i] = load_pack<kPixels>(pixels + origin + first * kColours + i * kPixels);
  }
  for (int c = 0; c < kColours; ++c) {
    Pack<T, kPixels> plane;
    for (int i = 0; i < kPixels; ++i) {
      const int byte = i * kColours + c;
      plane.values[i] = normalized<T>(range, packs[byte / kPixels].values[byte % kPixels]);
    }
    store_pack(images + origin + c * planes.spatial + first, plane);
  }
}

/// Converts to NCHW, for any number of channels and any planes.
template <class T>
__global__ void normalize_planes_kernel(Normalization range, Planes planes,
                                        const std::uint8_t* __restrict__ pixels,
                                        T* __restrict__ images) {
  const unsigned image = blockIdx.x / planes.blocks_per_image;
  const std::int64_t pixel = first_pixel<1>(blockIdx.x - image * planes.blocks_per_image);
  if (pixel >= planes.spatial) {
    return;
  }
  const std::int64_t origin = image * planes.spatial * planes.channels;
  for (std::int64_t c = 0; c < planes.channels; ++c) {
    images[origin + c * planes.spatial + pixel] =
        normalized<T>(range, pixels[origin + pixel * planes.channels + c]);
  }
}

template <class T>
void to_planes(cudaStream_t stream, const Normalize& args) {
  const View& view = args.view;
  const bool in_packs = view.channels == kColours && view.spatial % kPixels == 0;
  const unsigned blocks =
      blocks_for(view.spatial, std::int64_t{kElementLanes} * (in_packs ? kPixels : 1));
  launch(stream,
         {in_packs ? "normalize_colours" : "normalize_planes",
          dim3(blocks_for(view.batch * blocks, 1)), dim3(kElementLanes)},
         in_packs ? normalize_colours_kernel<T> : normalize_planes_kernel<T>, args.range,
         Planes{.channels = view.channels, .spatial = view.spatial, .blocks_per_image = blocks},
         static_cast<const std::uint8_t*>(args.pixels), static_cast<T*>(args.images));
}

}  // namespace

void normalize(cudaStream_t stream, const Normalize& args) {
  const View& view = args.view;
  with_element(args.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (view.order == Order::nchw && view.channels > 1 && view.spatial > 1) {
      return to_planes<T>(stream, args);
    }
    launch(stream, shape_for<kWidest<T>>("normalize", view.elements()), normalize_kernel<T>,
           args.range, view.elements(), static_cast<const std::uint8_t*>(args.pixels),
           static_cast<T*>(args.images));
  });
}

}  // namespace bench::cuda
