#include "pipeline/stages/crop_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace bench {
namespace {

bool within(const PixelWindow& window, ImageSize image) {
  return window.x >= 0 && window.y >= 0 && window.width > 0 && window.height > 0 &&
         window.x + window.width <= image.width && window.y + window.height <= image.height;
}

bool is_whole(const PixelWindow& window, ImageSize image) {
  return window == PixelWindow{.x = 0, .y = 0, .width = image.width, .height = image.height};
}

TEST(DistortedBox, StaysWithinAreaAndAspectLimitsForAnyImage) {
  RandomStream random(3);
  const std::vector<ImageSize> sizes = {{500, 375}, {375, 500}, {1, 1},    {1, 100},
                                        {100, 1},   {7, 5},     {30, 299}, {4000, 3000}};
  for (const ImageSize image : sizes) {
    const float area = static_cast<float>(image.width) * static_cast<float>(image.height);
    for (int round = 0; round < 2000; ++round) {
      const PixelWindow window = sample_distorted_box(image, {}, random);
      ASSERT_TRUE(within(window, image)) << image.width << "x" << image.height;
      if (is_whole(window, image)) {
        continue;
      }
      const auto part = static_cast<float>(window.width) * static_cast<float>(window.height);
      EXPECT_GE(part, 0.05F * area);
      // The width is rounded from height x aspect, so the aspect may miss its limits by half a
      // pixel.
      const auto height = static_cast<float>(window.height);
      EXPECT_GE(static_cast<float>(window.width), 0.75F * height - 0.51F);
      EXPECT_LE(static_cast<float>(window.width), 1.33F * height + 0.51F);
    }
  }
}

TEST(DistortedBox, CoversAtLeastATenthOfSomeBox) {
  RandomStream random(4);
  const ImageSize image{.width = 400, .height = 300};
  const std::vector<RelativeBox> boxes = {
      {.x_min = 0.05F, .y_min = 0.1F, .x_max = 0.2F, .y_max = 0.25F},
      {.x_min = 0.7F, .y_min = 0.6F, .x_max = 0.95F, .y_max = 0.9F}};
  for (int round = 0; round < 5000; ++round) {
    const PixelWindow window = sample_distorted_box(image, boxes, random);
    ASSERT_TRUE(within(window, image));
    const bool covers = std::any_of(boxes.begin(), boxes.end(), [&](const RelativeBox& box) {
      const float left = std::max(box.x_min * 400, static_cast<float>(window.x));
      const float right = std::min(box.x_max * 400, static_cast<float>(window.x + window.width));
      const float top = std::max(box.y_min * 300, static_cast<float>(window.y));
      const float bottom = std::min(box.y_max * 300, static_cast<float>(window.y + window.height));
      const float common = std::max(right - left, 0.0F) * std::max(bottom - top, 0.0F);
      const float whole = (box.x_max - box.x_min) * 400 * (box.y_max - box.y_min) * 300;
      return common / whole > 0.09F;  // boxes are cut to whole pixels
    });
    EXPECT_TRUE(covers) << window.width << "x" << window.height << "+" << window.x << "+"
                        << window.y;
  }
}

TEST(DistortedBox, IsTheWholeImageWhenNoBoxCanBeCovered) {
  RandomStream random(5);
  const ImageSize image{.width = 400, .height = 300};
  const std::vector<RelativeBox> empty = {
      {.x_min = 0.5F, .y_min = 0.5F, .x_max = 0.5F, .y_max = 0.5F}};
  for (int round = 0; round < 20; ++round) {
    EXPECT_TRUE(is_whole(sample_distorted_box(image, empty, random), image));
  }
}

TEST(DistortedBox, SpreadsOverAreasAspectsAndPlaces) {
  RandomStream random(6);
  const ImageSize image{.width = 400, .height = 400};
  constexpr int kDraws = 20000;
  double height = 0;
  double centre_x = 0;
  double centre_y = 0;
  std::array<int, 4> aspects{};
  for (int round = 0; round < kDraws; ++round) {
    const PixelWindow window = sample_distorted_box(image, {}, random);
    height += window.height;
    centre_x += window.x + window.width / 2.0;
    centre_y += window.y + window.height / 2.0;
    const double aspect = static_cast<double>(window.width) / window.height;
    ++aspects.at(static_cast<std::size_t>(std::clamp((aspect - 0.75) / 0.145, 0.0, 3.0)));
  }
  // Heights are uniform between sqrt(.05 A / a) and min(sqrt(A / a), H, W / a). Here a ~ U(.75,
  // 1.33), A is the area, and only windows that cover a tenth count. An independent simulation
  // gives 247.4 at 400 x 400.
  EXPECT_NEAR(height / kDraws, 247, 4);
  EXPECT_NEAR(centre_x / kDraws, 200, 2);
  EXPECT_NEAR(centre_y / kDraws, 200, 2);
  for (const int count : aspects) {
    EXPECT_NEAR(count, kDraws / 4, kDraws / 20);
  }
}

TEST(SampleWindow, ReachesEveryPlaceAndTakesSmallAxesWhole) {
  RandomStream random(7);
  std::array<int, 3> places{};
  for (int round = 0; round < 3000; ++round) {
    const PixelWindow window =
        sample_window({.width = 12, .height = 5}, {.width = 10, .height = 8}, random);
    EXPECT_EQ(window.width, 10);
    EXPECT_EQ(window.height, 5);
    EXPECT_EQ(window.y, 0);
    ++places.at(static_cast<std::size_t>(window.x));
  }
  for (const int count : places) {
    EXPECT_NEAR(count, 1000, 150);
  }
}

TEST(CentralWindow, RoundsItsOffsetDown) {
  EXPECT_EQ(central_window({.width = 13, .height = 4}, {.width = 10, .height = 10}),
            (PixelWindow{.x = 1, .y = 0, .width = 10, .height = 4}));
}

}  // namespace
}  // namespace bench
