#include "pipeline/stages/antialiased_resize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/errors.h"

namespace bench {
namespace {

/// An image whose pixels follow from their places.
struct DrawnImage {
  DrawnImage(int width, int height) : width_(width), height_(height) {
    const auto value = [](int x, int y, int c) {
      return static_cast<std::uint32_t>((x * x * 7 + y * 13 + c * 85 + x * y * 3) % 256);
    };
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        pixels_.push_back(rgbx(value(x, y, 0), value(x, y, 1), value(x, y, 2)));
      }
    }
  }
  [[nodiscard]] RgbxView view() const {
    return {.pixels = pixels_.data(), .width = width_, .height = height_, .stride = width_};
  }

 private:
  int width_;
  int height_;
  std::vector<std::uint32_t> pixels_;
};

std::vector<std::uint8_t> resized(const DrawnImage& image, const AxisResize& columns,
                                  const AxisResize& rows, ResizeFilter filter) {
  AntialiasedResizer resizer;
  const auto pixels =
      resizer.run(image.view(), antialiased_taps(columns, filter), antialiased_taps(rows, filter));
  return {pixels.begin(), pixels.end()};
}

AxisResize whole(int from, int to) { return {.from = from, .to = to, .begin = 0, .count = to}; }

/// The result of Image.resize of Pillow 13.0: the first bytes, and the sum of all bytes, each times
/// its place from 1, modulo 2^32.
struct Golden {
  int width;
  int height;
  int new_width;
  int new_height;
  ResizeFilter filter;
  std::vector<int> first;
  std::uint32_t sum;
};

TEST(AntialiasedResize, GivesPillowsPixels) {
  using enum ResizeFilter;
  const std::vector<Golden> goldens{
      {13, 9, 5, 4, triangle, {27, 112, 194, 106, 152, 142}, 230620},
      {13, 9, 5, 4, cubic, {17, 107, 199, 107, 156, 146}, 230371},
      {5, 4, 9, 7, triangle, {0, 85, 170, 2, 87, 172}, 2357587},
      {5, 4, 9, 7, cubic, {0, 83, 168, 0, 85, 170}, 2358550},
      {64, 48, 31, 48, cubic, {3, 88, 178, 47, 144, 190}, 1269752449},
      {200, 3, 7, 3, triangle, {128, 116, 132, 141, 129, 109}, 254924}};
  for (const Golden& golden : goldens) {
    const DrawnImage image(golden.width, golden.height);
    const auto pixels = resized(image, whole(golden.width, golden.new_width),
                                whole(golden.height, golden.new_height), golden.filter);
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      sum += static_cast<std::uint32_t>(pixels[i] * (i + 1));
    }
    EXPECT_EQ(sum, golden.sum) << golden.width << " x " << golden.height;
    EXPECT_EQ(std::vector<int>(pixels.begin(), pixels.begin() + 6), golden.first);
  }
}

TEST(AntialiasedResize, ComputesAPartAsInTheWholeImage) {
  const DrawnImage image(64, 48);
  for (const ResizeFilter filter : {ResizeFilter::triangle, ResizeFilter::cubic}) {
    const auto all = resized(image, whole(64, 30), whole(48, 20), filter);
    const auto part = resized(image, {.from = 64, .to = 30, .begin = 7, .count = 5},
                              {.from = 48, .to = 20, .begin = 11, .count = 3}, filter);
    std::vector<std::uint8_t> expected;
    for (std::size_t y = 11; y < 14; ++y) {
      const auto row = all.begin() + static_cast<std::ptrdiff_t>((y * 30 + 7) * 3);
      expected.insert(expected.end(), row, row + 15);
    }
    EXPECT_EQ(part, expected);
  }
}

TEST(AntialiasedResize, RefusesTapsOutsideTheSource) {
  const DrawnImage image(5, 4);
  AntialiasedResizer resizer;
  const FixedTaps columns = antialiased_taps(whole(6, 3), ResizeFilter::triangle);
  const FixedTaps rows = antialiased_taps(whole(4, 3), ResizeFilter::triangle);
  EXPECT_THROW(resizer.run(image.view(), columns, rows), InternalError);
}

}  // namespace
}  // namespace bench
