// Resizes and distorted colours give TensorFlow's values (tensorflow/make_pixels.py).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "pipeline/stages/color_distortion.h"
#include "pipeline/stages/crop_window.h"
#include "pipeline/stages/float_resize.h"

namespace bench {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::Pointwise;

/// The pattern of make_pixels.py.
std::vector<std::uint32_t> pattern(int width, int height) {
  std::vector<std::uint32_t> pixels;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto value = [&](int c) {
        return static_cast<std::uint32_t>((7 * x + 13 * y + 29 * c + x * y) % 256);
      };
      pixels.push_back(rgbx(value(0), value(1), value(2)));
    }
  }
  return pixels;
}

std::vector<float> values_of(const std::vector<std::uint32_t>& pixels) {
  std::vector<float> values;
  for (const std::uint32_t pixel : pixels) {
    for (int c = 0; c < 3; ++c) {
      values.push_back(static_cast<float>(channel_of(pixel, c)));
    }
  }
  return values;
}

std::vector<std::istringstream> lines_of_file(const std::string& name) {
  std::ifstream file(BENCH_TENSORFLOW_FOLDER "/" + name);
  std::vector<std::istringstream> lines;
  for (std::string line; std::getline(file, line);) {
    lines.emplace_back(line);
  }
  return lines;
}

std::vector<float> rest_of(std::istringstream& line) {
  std::vector<float> values;
  for (float value = 0; line >> value;) {
    values.push_back(value);
  }
  return values;
}

FloatTaps taps_of(const std::string& method, int from, int to) {
  const AxisResize axis{.from = from, .to = to, .begin = 0, .count = to};
  return method == "bicubic" ? bicubic_taps(axis)
         : method == "area"
             ? area_taps(axis)
             : float_taps(resize_taps(
                   axis, method == "nearest" ? Interpolation::nearest : Interpolation::bilinear));
}

TEST(FloatResize, GivesTensorFlowsValues) {
  auto lines = lines_of_file("resizes.txt");
  ASSERT_EQ(lines.size(), 16U);
  for (std::istringstream& line : lines) {
    std::string method;
    ImageSize from;
    ImageSize to;
    line >> method >> from.width >> from.height >> to.width >> to.height;
    const auto pixels = pattern(from.width, from.height);
    const RgbxView view{
        .pixels = pixels.data(), .width = from.width, .height = from.height, .stride = from.width};
    FloatResizer resizer;
    EXPECT_THAT(resizer.run(view, taps_of(method, from.width, to.width),
                            taps_of(method, from.height, to.height)),
                Pointwise(FloatNear(1e-3F), rest_of(line)))
        << method << " from " << from.width << " x " << from.height;
  }
}

TEST(FloatResize, MirrorsTheSource) {
  constexpr int kFrom = 13;
  constexpr int kTo = 5;
  const auto pixels = pattern(kFrom, 1);
  std::vector<std::uint32_t> mirrored(pixels.rbegin(), pixels.rend());
  const auto view = [](const std::vector<std::uint32_t>& row) {
    return RgbxView{.pixels = row.data(), .width = kFrom, .height = 1, .stride = kFrom};
  };
  for (const char* const method : {"nearest", "bilinear", "bicubic", "area"}) {
    FloatTaps taps = taps_of(method, kFrom, kTo);
    const FloatTaps row = taps_of("nearest", 1, 1);
    FloatResizer expected;
    const auto wanted = expected.run(view(mirrored), taps, row);
    taps.mirror(kFrom);
    FloatResizer resizer;
    EXPECT_THAT(resizer.run(view(pixels), taps, row),
                Pointwise(FloatNear(1e-4F), std::vector<float>(wanted.begin(), wanted.end())))
        << method;
  }
}

TEST(ColorDistortion, GivesTensorFlowsValuesInHsv) {
  auto lines = lines_of_file("colors.txt");
  ASSERT_EQ(lines.size(), 8U);
  for (std::istringstream& line : lines) {
    ColorDistortion distortion{.yiq = false};
    int contrast_last = 0;
    line >> distortion.brightness >> distortion.saturation >> distortion.contrast >>
        distortion.hue >> contrast_last;
    distortion.contrast_last = contrast_last == 1;
    std::vector<float> values = values_of(pattern(5, 4));
    distort_colors(values, distortion);
    EXPECT_THAT(values, Pointwise(FloatNear(2e-3F), rest_of(line))) << "hue " << distortion.hue;
  }
}

TEST(ColorDistortion, RotatesAndScalesIAndQ) {
  // Y, I and Q of (100, 150, 60) are 124.79, -0.82 and -38.63. A quarter of a turn makes I = 38.63
  // and Q = -0.82, of which 0.5 remains.
  std::vector<float> values{100, 150, 60};
  distort_colors(values, {.saturation = 0.5F, .hue = 0.25F});
  const auto row = [&](double r, double g, double b) {
    return r * static_cast<double>(values[0]) + g * static_cast<double>(values[1]) +
           b * static_cast<double>(values[2]);
  };
  EXPECT_NEAR(row(0.299, 0.587, 0.114), 124.79, 0.01);
  EXPECT_NEAR(row(0.596, -0.274, -0.322), 38.63 / 2, 0.01);
  EXPECT_NEAR(row(0.211, -0.523, 0.312), -0.82 / 2, 0.01);
}

TEST(ColorDistortion, KeepsGreysAndDrawsWithinTheRanges) {
  RandomStream random(7);
  float largest_hue = 0;
  for (int i = 0; i < 200; ++i) {
    const ColorDistortion drawn = draw_color_distortion(random, i % 2 == 0, i % 3 == 0);
    EXPECT_EQ(drawn.contrast_last, i % 3 == 0);
    EXPECT_LE(std::abs(drawn.brightness), 32.0F / 255);
    EXPECT_TRUE(drawn.saturation >= 0.5F && drawn.saturation <= 1.5F);
    EXPECT_TRUE(drawn.contrast >= 0.5F && drawn.contrast <= 1.5F);
    EXPECT_LE(std::abs(drawn.hue), drawn.yiq ? 0.1F : 0.2F);
    largest_hue = std::max(largest_hue, std::abs(drawn.hue));
    std::vector<float> grey{90, 90, 90};
    distort_colors(grey, {.saturation = drawn.saturation, .hue = drawn.hue, .yiq = drawn.yiq});
    EXPECT_THAT(grey,
                ElementsAre(FloatNear(90, 0.01F), FloatNear(90, 0.01F), FloatNear(90, 0.01F)));
  }
  EXPECT_GT(largest_hue, 0.15F);
}

}  // namespace
}  // namespace bench
