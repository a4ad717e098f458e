// How every backend must normalise pixels.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "kernels/test/conformance.h"
#include "models/base/half.h"
#include "models/base/philox.h"

namespace bench {
namespace {

constexpr std::byte kNothingWritten{0xFF};
/// Bytes after the writable part.
constexpr std::size_t kGuard = 256;

/// The element of the type that is nearest to the value, after rounding to f32.
std::vector<std::byte> element_of(double value, DType dtype) {
  const auto bytes = [](auto element) {
    std::vector<std::byte> result(sizeof element);
    std::memcpy(result.data(), &element, sizeof element);
    return result;
  };
  const auto narrow = static_cast<float>(value);
  switch (dtype) {
    case DType::f64:
      return bytes(value);
    case DType::f16:
      return bytes(narrow_to_float16(static_cast<double>(narrow)));
    case DType::bf16:
      return bytes(narrow_to_bfloat16(static_cast<double>(narrow)));
    default:
      return bytes(narrow);
  }
}

/// The expected contents, element by element, and the poison after them.
std::vector<std::byte> expected_bytes(const std::vector<std::uint8_t>& pixels,
                                      const Normalization& range, const Placed& images) {
  const Shape& shape = images.type.shape;
  const std::int64_t channels = shape[1];
  const std::int64_t plane = shape[2] * shape[3];
  const std::size_t size = size_of(images.type.dtype);
  std::vector<std::byte> expected(pixels.size() * size + kGuard, kNothingWritten);
  for (std::int64_t n = 0; n < shape[0]; ++n) {
    for (std::int64_t p = 0; p < plane; ++p) {
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t from = (n * plane + p) * channels + c;
        const std::int64_t to =
            images.layout == Layout("nchw") ? (n * channels + c) * plane + p : from;
        const double value =
            (pixels[static_cast<std::size_t>(from)] - static_cast<double>(range.mean)) /
            static_cast<double>(range.deviation);
        const auto element = element_of(value, images.type.dtype);
        std::copy(element.begin(), element.end(),
                  expected.begin() + to * static_cast<std::int64_t>(size));
      }
    }
  }
  return expected;
}

std::vector<std::byte> normalised(Backend& backend, const std::vector<std::uint8_t>& pixels,
                                  const Normalization& range, const Placed& images) {
  const std::size_t bytes = pixels.size() * size_of(images.type.dtype);
  const auto from = backend.allocate(pixels.size());
  const auto to = backend.allocate(bytes + kGuard);
  const auto kernel = backend.make_normalization(range, images);
  const auto stream = backend.make_stream();
  stream->upload(std::as_bytes(std::span(pixels)), from->data());
  stream->fill(to->data(), kNothingWritten, bytes + kGuard);
  const TensorView in{.data = from->data(), .bytes = pixels.size()};
  const TensorView out{.data = to->data(), .bytes = bytes};
  kernel->launch(*stream, {&in, 1}, {&out, 1}, nullptr);
  std::vector<std::byte> result(bytes + kGuard);
  stream->download(to->data(), result);
  stream->synchronize();
  return result;
}

/// Pixels of every value, whatever the shape's size.
std::vector<std::uint8_t> drawn_pixels(const Shape& shape) {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(shape.elements()));
  RandomStream random(test_seed(), hash_name("pixels"));
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<std::uint8_t>(i < 256 ? i : random.below(256));
  }
  return pixels;
}

}  // namespace

TEST_P(NormalizationConformance, HasTheBitsOfTheQuotientInDouble) {
  SCOPED_TRACE(how_to_repeat());
  const auto& [under_test, format, dtype] = GetParam();
  Backend& device = backend(under_test);
  const std::vector<Shape> shapes = {{2, 3, 32, 32}, {3, 3, 7, 5},   {1, 3, 1, 1},  {5, 1, 9, 31},
                                     {2, 4, 6, 6},   {1, 20, 3, 13}, {3, 3, 33, 34}};
  for (const Shape& shape : shapes) {
    const std::vector<std::uint8_t> pixels = drawn_pixels(shape);
    const TensorType type{.dtype = dtype, .shape = shape};
    for (const Layout& layout : device.input_layouts(type, format)) {
      const Placed images{.type = type, .layout = layout};
      // Differences of the second are exact too: only the quotient is rounded.
      for (const Normalization& range :
           {Normalization{}, Normalization{.mean = 123.75F, .deviation = 58.25F}}) {
        EXPECT_TRUE(normalised(device, pixels, range, images) ==
                    expected_bytes(pixels, range, images))
            << shape << " " << layout << ", mean " << range.mean;
      }
    }
  }
}

}  // namespace bench
