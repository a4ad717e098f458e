// Backend::make_normalization() for devices that compute in the host's memory.

#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/backend.h"
#include "models/base/errors.h"
#include "models/base/half.h"

namespace bench {
namespace {

template <class T>
T rounded(float value) {
  if constexpr (std::is_same_v<T, Float16>) {
    return narrow_to_float16(static_cast<double>(value));
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return narrow_to_bfloat16(static_cast<double>(value));
  } else {
    return value;
  }
}

template <class T>
T normalised(const Normalization& range, std::uint8_t pixel) {
  if constexpr (std::is_same_v<T, double>) {
    return (pixel - static_cast<double>(range.mean)) / static_cast<double>(range.deviation);
  } else {
    return rounded<T>((static_cast<float>(pixel) - range.mean) / range.deviation);
  }
}

class HostNormalization final : public Kernel {
 public:
  HostNormalization(const Normalization& range, Placed images, HostThreads threads)
      : range_(range), images_(std::move(images)), threads_(std::move(threads)) {}

  void launch(Stream& /*stream*/, std::span<const TensorView> inputs,
              std::span<const TensorView> outputs, void* /*workspace*/) override {
    const auto* const pixels = inputs[0].as<const std::uint8_t>();
    switch (images_.type.dtype) {
      case DType::f32:
        return write(pixels, outputs[0].as<float>());
      case DType::f64:
        return write(pixels, outputs[0].as<double>());
      case DType::f16:
        return write(pixels, outputs[0].as<Float16>());
      case DType::bf16:
        return write(pixels, outputs[0].as<Bfloat16>());
      default:
        throw InternalError(
            fmt::format("images cannot have element type {}", name_of(images_.type.dtype)));
    }
  }

 private:
  template <class T>
  void write(const std::uint8_t* pixels, T* images) const {
    const Shape& shape = images_.type.shape;
    const std::int64_t count = shape[0];
    threads_.run([&](int thread) {
      const std::int64_t begin = count * thread / threads_.count;
      const std::int64_t end = count * (thread + 1) / threads_.count;
      const std::int64_t size = shape.elements() / count;
      for (std::int64_t n = begin; n < end; ++n) {
        write_image(pixels + n * size, images + n * size);
      }
    });
  }

  template <class T>
  void write_image(const std::uint8_t* pixels, T* image) const {
    const std::int64_t channels = images_.type.shape[1];
    const std::int64_t plane = images_.type.shape[2] * images_.type.shape[3];
    const bool planes = images_.layout == Layout("nchw");
    for (std::int64_t p = 0; p < plane; ++p) {
      for (std::int64_t c = 0; c < channels; ++c) {
        image[planes ? c * plane + p : p * channels + c] =
            normalised<T>(range_, pixels[p * channels + c]);
      }
    }
  }

  Normalization range_;
  Placed images_;
  HostThreads threads_;
};

}  // namespace

std::unique_ptr<Kernel> Backend::make_normalization(const Normalization& range,
                                                    const Placed& images) {
  check(shares_host_memory(), fmt::format("{}: no kernel normalizes pixels", name()));
  check(images.layout == Layout("nchw") || images.layout == Layout("nhwc"),
        fmt::format("{}: normalized images cannot have layout {}", name(), images.layout.token()));
  return std::make_unique<HostNormalization>(range, images, host_threads());
}

}  // namespace bench
