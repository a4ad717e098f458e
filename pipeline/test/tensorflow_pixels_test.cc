#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include <zlib.h>

#include "models/base/errors.h"
#include "pipeline/formats/jpeg_decoder.h"

namespace bench {
namespace {

/// Columns at each side of a window that TensorFlow decodes differently from the whole image.
constexpr int kSide = 2;

std::string read_file(const std::string& name) {
  std::ifstream file(BENCH_TENSORFLOW_FOLDER "/" + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::uint32_t checksum(const RgbxView& view) {
  std::string bytes;
  for (int y = 0; y < view.height; ++y) {
    for (int x = kSide; x < view.width - kSide; ++x) {
      for (int c = 0; c < 3; ++c) {
        bytes.push_back(static_cast<char>(channel_of(view.row(y)[x], c)));
      }
    }
  }
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

/// The numbers of windows whose pixels are, and are not, those of TensorFlow.
std::pair<int, int> compare(DctMethod dct) {
  const std::string jpeg = read_file("image.jpg");
  std::istringstream windows(read_file("windows.txt"));
  JpegDecoder decoder(dct);
  std::pair<int, int> counts;
  PixelWindow window;
  std::uint32_t expected = 0;
  while (windows >> window.x >> window.y >> window.width >> window.height >> expected) {
    decoder.open(jpeg);
    ++(checksum(decoder.decode(window)) == expected ? counts.first : counts.second);
  }
  return counts;
}

TEST(TensorFlowPixels, AreThoseOfTheFastDct) {
  EXPECT_EQ(compare(DctMethod::fast), std::pair(41, 0));
  EXPECT_EQ(compare(DctMethod::accurate), std::pair(0, 41)) << "this image shows the difference";
}

}  // namespace
}  // namespace bench
