#include <array>
#include <cmath>
#include <cstdlib>

#include "models/base/errors.h"
#include "pipeline/formats/jpeg_encoder.h"
#include "pipeline/fuzz/target.h"
#include "pipeline/stages/image_preprocessor.h"

namespace {

using bench::PreprocessOptions;

constexpr std::int64_t kMostPixels = 1 << 16;  // keeps a run short
constexpr std::size_t kOptionBytes = 8;

/// Each byte chooses one option.
PreprocessOptions options_from(const std::uint8_t* bytes) {
  PreprocessOptions options{.output = {.width = 1 + bytes[0] % 40, .height = 1 + bytes[1] % 40}};
  options.layout = bytes[2] % 2 == 0 ? bench::SlotLayout::nchw : bench::SlotLayout::nhwc;
  options.training = bytes[2] / 2 % 2 == 0;
  options.fused = bytes[2] / 4 % 2 == 0;
  options.distort_colors = bytes[2] / 8 % 2 == 0;
  options.distort_in_yiq = bytes[2] / 16 % 2 == 0;
  options.method = static_cast<bench::ResizeMethod>(bytes[3] % 6);
  options.preprocessor =
      static_cast<bench::Preprocessor>(options.training ? bytes[4] % 2 * 3 : bytes[4] % 4);
  options.scaling = bytes[5] % 2 == 0 ? bench::kSymmetric : bench::kImagenetMeans;
  options.dct = bytes[5] / 2 % 2 == 0 ? bench::DctMethod::fast : bench::DctMethod::accurate;
  if (options.preprocessor == bench::Preprocessor::torchvision ||
      options.preprocessor == bench::Preprocessor::torchvision_bicubic) {
    options.output.height = options.output.width;  // It needs square outputs.
  }
  options.max_image_pixels = kMostPixels;
  return options;
}

/// A box inside the image, as the input checks it.
bench::RelativeBox box_from(const std::uint8_t* bytes) {
  const float x = static_cast<float>(bytes[0]) / 255;
  const float y = static_cast<float>(bytes[1]) / 255;
  return {.x_min = x / 2, .y_min = y / 2, .x_max = 1 - x / 3, .y_max = 1 - y / 3};
}

bool fits_u8(const PreprocessOptions& options) {
  return bench::fits_u8_slots({.data_dir = "",
                               .preprocessor = options.preprocessor,
                               .resize_method = options.method,
                               .scaling = options.scaling,
                               .distortions = options.distort_colors});
}

}  // namespace

/// The first bytes are options and a box; the others are the image. All values must be finite.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kOptionBytes) {
    return 0;
  }
  const PreprocessOptions options = options_from(data);
  const std::array boxes = {box_from(data + 6)};
  const std::string_view jpeg(reinterpret_cast<const char*>(data + kOptionBytes),
                              size - kOptionBytes);
  bench::ImagePreprocessor preprocessor(options);
  const auto elements = 3 * static_cast<std::size_t>(options.output.width) *
                        static_cast<std::size_t>(options.output.height);
  try {
    preprocessor.decode(jpeg, boxes, bench::RandomStream(data[6], data[7]), data[7]);
    std::vector<float> values(elements);
    preprocessor.pack(values.data());
    for (const float value : values) {
      if (!std::isfinite(value)) {
        std::abort();
      }
    }
    if (fits_u8(options) && options.layout == bench::SlotLayout::nhwc) {
      std::vector<std::uint8_t> pixels(elements);
      preprocessor.pack(pixels.data());
    }
  } catch (const bench::DataError&) {
    return 0;  // malformed images end here
  }
  return 0;
}

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  for (int i = 0; i < 48; ++i) {
    const int width = 1 + 7 * i % 61;
    const int height = 1 + 11 * i % 53;
    const int components = i % 5 == 0 ? 1 : 3;
    std::vector<std::uint8_t> samples;
    for (int j = 0; j < width * height * components; ++j) {
      samples.push_back(static_cast<std::uint8_t>(j * j / 7));
    }
    std::string options;
    for (const int byte : {3 * i, 5 * i, i, i, i / 6, i / 12, 40 * i, 9 * i}) {
      options.push_back(static_cast<char>(byte));
    }
    seeds.push_back(
        options +
        bench::encode_jpeg(
            {.samples = samples, .width = width, .height = height, .components = components},
            {.progressive = i % 7 == 0}));
  }
  return seeds;
}
