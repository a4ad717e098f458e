#include <cstdlib>

#include "models/base/errors.h"
#include "pipeline/formats/jpeg_decoder.h"
#include "pipeline/formats/jpeg_encoder.h"
#include "pipeline/formats/jpeg_rewriter.h"
#include "pipeline/fuzz/target.h"

namespace {

constexpr std::int64_t kMostPixels = 1 << 16;  // keeps a run short

struct Decoded {
  std::vector<std::uint32_t> pixels{};
  bool clean = false;  ///< libjpeg warned of nothing.
};

Decoded decode(std::string_view jpeg, const bench::PixelWindow& window) {
  bench::JpegDecoder decoder(bench::DctMethod::fast);
  decoder.open(jpeg);
  const bench::RgbxView view = decoder.decode(window);
  Decoded decoded{.pixels = {}, .clean = decoder.warnings() == 0};
  for (int y = 0; y < view.height; ++y) {
    for (int x = 0; x < view.width; ++x) {
      decoded.pixels.push_back(view.row(y)[x] & 0xFFFFFFU);
    }
  }
  return decoded;
}

/// Ends the program unless the window of `jpeg` has the pixels of the whole image `expected`.
void compare(std::string_view jpeg, const bench::PixelWindow& window, const Decoded& expected,
             int width) {
  const Decoded part = decode(jpeg, window);
  std::size_t i = 0;
  for (int y = window.y; y < window.y + window.height; ++y) {
    for (int x = window.x; x < window.x + window.width; ++x, ++i) {
      if (part.pixels[i] != expected.pixels[static_cast<std::size_t>(y * width + x)]) {
        std::abort();
      }
    }
  }
}

}  // namespace

/// The first four bytes choose the window; the others are the image. If the whole image decodes
/// without a warning, the window has the same pixels, also in the rewritten image.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kWindowBytes = 4;
  if (size < kWindowBytes) {
    return 0;
  }
  const std::string_view jpeg(reinterpret_cast<const char*>(data + kWindowBytes),
                              size - kWindowBytes);
  try {
    const bench::JpegHeader image = bench::JpegDecoder(bench::DctMethod::fast).open(jpeg);
    if (std::int64_t{image.width} * image.height > kMostPixels) {
      return 0;
    }
    bench::PixelWindow window{.x = data[0] % image.width, .y = data[1] % image.height};
    window.width = 1 + data[2] % (image.width - window.x);
    window.height = 1 + data[3] % (image.height - window.y);
    decode(jpeg, window);
    const Decoded whole =
        decode(jpeg, {.x = 0, .y = 0, .width = image.width, .height = image.height});
    if (!whole.clean) {
      return 0;
    }
    compare(jpeg, window, whole, image.width);
    if (const auto rewritten = bench::rewrite_seekable(jpeg)) {
      compare(*rewritten, window, whole, image.width);
    }
    return 0;
  } catch (const bench::DataError&) {
    return 0;  // malformed images end here
  }
}

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  const std::string window("\x15\x13\x10\x20", 4);
  for (const int across : {1, 2, 4}) {
    for (const int down : {1, 2}) {
      std::vector<std::uint8_t> samples;
      for (int i = 0; i < 70 * 53 * 3; ++i) {
        samples.push_back(static_cast<std::uint8_t>(i * i / 7));
      }
      const std::string jpeg = bench::encode_jpeg({.samples = samples, .width = 70, .height = 53},
                                                  {.sampling = {{{across, down}, {}, {}}}});
      seeds.push_back(window + jpeg);
      seeds.push_back(window + bench::rewrite_seekable(jpeg).value_or(jpeg));
    }
  }
  return seeds;
}
