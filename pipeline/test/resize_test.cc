#include "pipeline/stages/resize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "models/base/philox.h"

namespace bench {
namespace {

struct Source {
  std::vector<std::uint32_t> pixels;
  RgbxView view;
};

Source random_source(int width, int height, RandomStream& random) {
  Source source;
  const int stride = width + 3;
  for (int i = 0; i < stride * height; ++i) {
    source.pixels.push_back(random.bits());
  }
  source.view = {
      .pixels = source.pixels.data(), .width = width, .height = height, .stride = stride};
  return source;
}

struct Output {
  int width;
  int height;
};

/// A plain implementation of TensorFlow 1's ResizeBilinear with align_corners false.
float mixed(const RgbxView& source, Output output, int x, int y, int channel, bool mirrored) {
  const float x_scale = static_cast<float>(source.width) / static_cast<float>(output.width);
  const float y_scale = static_cast<float>(source.height) / static_cast<float>(output.height);
  const float in_x = static_cast<float>(x) * x_scale;
  const float in_y = static_cast<float>(y) * y_scale;
  const int left = static_cast<int>(in_x);
  const int right = std::min(left + 1, source.width - 1);
  const int top = static_cast<int>(in_y);
  const int bottom = std::min(top + 1, source.height - 1);
  const float part_x = in_x - static_cast<float>(left);
  const float part_y = in_y - static_cast<float>(top);
  const auto at = [&](int column, int row) {
    const int place = mirrored ? source.width - 1 - column : column;
    return static_cast<float>(channel_of(source.row(row)[place], channel));
  };
  const float upper = at(left, top) + (at(right, top) - at(left, top)) * part_x;
  const float lower = at(left, bottom) + (at(right, bottom) - at(left, bottom)) * part_x;
  return upper + (lower - upper) * part_y;
}

AxisTaps all_taps(int from, int to) {
  return resize_taps({.from = from, .to = to, .begin = 0, .count = to}, Interpolation::bilinear);
}

TEST(Resizer, EqualsTheScalarReferenceBitForBitInBothLayoutsAndRounded) {
  RandomStream random(11);
  const std::vector<Output> sizes = {{1, 1}, {3, 5}, {16, 16}, {17, 4}, {224, 31}, {75, 224}};
  Resizer resizer;
  for (const Output output : sizes) {
    for (int round = 0; round < 6; ++round) {
      const int width = 1 + static_cast<int>(random.below(300));
      const int height = 1 + static_cast<int>(random.below(200));
      const bool mirrored = round % 2 == 1;
      const Source source = random_source(width, height, random);
      AxisTaps columns = all_taps(width, output.width);
      if (mirrored) {
        columns.mirror(width);
      }
      const AxisTaps rows = all_taps(height, output.height);
      const auto pixels = static_cast<std::size_t>(output.width * output.height);
      constexpr float kSentinel = 1e9F;
      std::vector<float> nchw(3 * pixels + 1, kSentinel);
      std::vector<float> nhwc(3 * pixels + 1, kSentinel);
      constexpr std::uint8_t kUntouched = 0xA5;
      std::vector<std::uint8_t> rounded(3 * pixels + 1, kUntouched);
      resizer.run(source.view, columns, rows, SlotLayout::nchw, nchw.data());
      resizer.run(source.view, columns, rows, SlotLayout::nhwc, nhwc.data());
      resizer.run(source.view, columns, rows, rounded.data());
      ASSERT_EQ(rounded.back(), kUntouched);
      ASSERT_EQ(nchw.back(), kSentinel);
      ASSERT_EQ(nhwc.back(), kSentinel);
      for (int y = 0; y < output.height; ++y) {
        for (int x = 0; x < output.width; ++x) {
          const auto place = static_cast<std::size_t>(y * output.width + x);
          for (int c = 0; c < 3; ++c) {
            const float value = mixed(source.view, output, x, y, c, mirrored);
            const float expected = value * (1.0F / 127.5F) - 1.0F;
            const auto channel = static_cast<std::size_t>(c);
            ASSERT_EQ(nchw[channel * pixels + place], expected) << x << "," << y << "," << c;
            ASSERT_EQ(nhwc[3 * place + channel], expected) << x << "," << y << "," << c;
            // nearbyint rounds to nearest, ties to even.
            ASSERT_EQ(static_cast<float>(rounded[3 * place + channel]), std::nearbyint(value))
                << x << "," << y << "," << c;
          }
        }
      }
    }
  }
}

TEST(Resizer, RoundsTiesToEven) {
  // Halfway between two columns, the value is half of an odd number.
  const std::vector<std::uint32_t> pixels{rgbx(0, 1, 252), rgbx(1, 2, 255)};
  const RgbxView view{.pixels = pixels.data(), .width = 2, .height = 1, .stride = 2};
  std::vector<std::uint8_t> out(3 * 4);
  Resizer().run(view, all_taps(2, 4), all_taps(1, 1), out.data());
  EXPECT_EQ(out, (std::vector<std::uint8_t>{0, 1, 252, 0, 2, 254, 1, 2, 255, 1, 2, 255}));
}

TEST(Resizer, LeavesAConstantImageExactlyUnchanged) {
  Resizer resizer;
  for (const std::uint32_t value : {0U, 1U, 77U, 254U, 255U}) {
    const std::vector<std::uint32_t> pixels(9 * 7, rgbx(value, value, value));
    const RgbxView view{.pixels = pixels.data(), .width = 9, .height = 7, .stride = 9};
    for (const Output output : {Output{33, 41}, Output{4, 2}, Output{100, 1}}) {
      std::vector<float> out(static_cast<std::size_t>(3 * output.width * output.height));
      resizer.run(view, all_taps(9, output.width), all_taps(7, output.height), SlotLayout::nchw,
                  out.data());
      const float expected = static_cast<float>(value) * (1.0F / 127.5F) - 1.0F;
      EXPECT_TRUE(std::all_of(out.begin(), out.end(), [&](float x) { return x == expected; }));
    }
  }
}

TEST(ResizeTaps, PutOutputsAtMultiplesOfTheScale) {
  const AxisTaps taps = all_taps(2, 4);
  EXPECT_EQ(taps.first, (std::vector<std::int32_t>{0, 0, 1, 1}));
  EXPECT_EQ(taps.second, (std::vector<std::int32_t>{1, 1, 1, 1}));
  EXPECT_EQ(taps.weight, (std::vector<float>{0, 0.5F, 0, 0.5F}));
}

TEST(ResizeTaps, NearestTakesTheLowerNeighbour) {
  const AxisTaps taps =
      resize_taps({.from = 2, .to = 4, .begin = 0, .count = 4}, Interpolation::nearest);
  EXPECT_EQ(taps.first, (std::vector<std::int32_t>{0, 0, 1, 1}));
  EXPECT_EQ(taps.second, taps.first);
}

TEST(ResizeTaps, AreTheSameForAPartAndTheWhole) {
  const AxisTaps whole = all_taps(300, 256);
  const AxisTaps part =
      resize_taps({.from = 300, .to = 256, .begin = 16, .count = 224}, Interpolation::bilinear);
  for (std::size_t i = 0; i < 224; ++i) {
    EXPECT_EQ(part.first[i], whole.first[i + 16]);
    EXPECT_EQ(part.second[i], whole.second[i + 16]);
    EXPECT_EQ(part.weight[i], whole.weight[i + 16]);
  }
}

TEST(ResizeTaps, StayWithinTheSourceForAnySizes) {
  for (int from = 1; from < 70; ++from) {
    for (int to = 1; to < 70; ++to) {
      const AxisTaps taps = all_taps(from, to);
      EXPECT_GE(taps.lowest(), 0);
      EXPECT_LT(taps.highest(), from);
      for (const float weight : taps.weight) {
        EXPECT_GE(weight, 0);
        EXPECT_LT(weight, 1);
      }
    }
  }
}

}  // namespace
}  // namespace bench
