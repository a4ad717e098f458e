#include <algorithm>

#include "models/base/errors.h"
#include "pipeline/formats/jpeg_decoder.h"
#include "pipeline/formats/jpeg_encoder.h"
#include "pipeline/fuzz/target.h"

/// The first four bytes choose the window; the others are the image.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kWindowBytes = 4;
  constexpr std::int64_t kMostPixels = 1 << 20;  // keeps a run short
  if (size < kWindowBytes) {
    return 0;
  }
  bench::JpegDecoder decoder(bench::DctMethod::accurate);
  try {
    const bench::JpegHeader image =
        decoder.open({reinterpret_cast<const char*>(data + kWindowBytes), size - kWindowBytes});
    if (std::int64_t{image.width} * image.height > kMostPixels) {
      return 0;
    }
    bench::PixelWindow window{.x = data[0] % image.width, .y = data[1] % image.height};
    window.width = 1 + data[2] % (image.width - window.x);
    window.height = 1 + data[3] % (image.height - window.y);
    const bench::RgbxView view = decoder.decode(window);
    // Reads every pixel of the window.
    volatile std::uint32_t all = 0;
    for (int y = 0; y < view.height; ++y) {
      for (int x = 0; x < view.width; ++x) {
        all = all | view.row(y)[x];
      }
    }
    return 0;
  } catch (const bench::DataError&) {
    return 0;  // malformed images end here
  }
}

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  const std::string window = "\x05\x03\x10\x20";
  for (const int components : {1, 3, 4}) {
    for (const bool progressive : {false, true}) {
      std::vector<std::uint8_t> samples;
      for (int i = 0; i < 33 * 27 * components; ++i) {
        samples.push_back(static_cast<std::uint8_t>(i * i / 7));
      }
      seeds.push_back(window +
                      bench::encode_jpeg(
                          {.samples = samples, .width = 33, .height = 27, .components = components},
                          {.progressive = progressive}));
    }
  }
  return seeds;
}
