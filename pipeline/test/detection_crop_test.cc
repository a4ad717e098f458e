#include "pipeline/stages/detection_crop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace bench {
namespace {

constexpr int kDraws = 2000;
constexpr RelativeBox kLarge{.x_min = 0.1F, .y_min = 0.2F, .x_max = 0.9F, .y_max = 0.8F};
constexpr RelativeBox kSmall{.x_min = 0.5F, .y_min = 0.5F, .x_max = 0.55F, .y_max = 0.56F};

bool is_whole(const RelativeBox& window) {
  return window.x_min == 0 && window.y_min == 0 && window.x_max == 1 && window.y_max == 1;
}

TEST(DetectionCrop, KeepsTheObjectsWhoseCentreIsInside) {
  const std::array objects{kLarge, kSmall,
                           RelativeBox{.x_min = 0, .y_min = 0, .x_max = 0.5F, .y_max = 0.5F}};
  int whole = 0;
  for (int i = 0; i < kDraws; ++i) {
    RandomStream random(1, static_cast<std::uint64_t>(i));
    const DetectionCrop crop = sample_detection_crop(objects, random);
    ASSERT_FALSE(crop.objects.empty());
    if (is_whole(crop.window)) {
      ++whole;
      EXPECT_EQ(crop.objects.size(), objects.size());
      continue;
    }
    for (std::size_t object = 0; object < objects.size(); ++object) {
      const RelativeBox& box = objects.at(object);
      const float x = (box.x_min + box.x_max) / 2;
      const float y = (box.y_min + box.y_max) / 2;
      const bool inside = crop.window.x_min < x && x < crop.window.x_max && crop.window.y_min < y &&
                          y < crop.window.y_max;
      EXPECT_EQ(std::ranges::count(crop.objects, object), inside ? 1 : 0);
    }
    const float width = crop.window.x_max - crop.window.x_min;
    const float height = crop.window.y_max - crop.window.y_min;
    EXPECT_GE(std::min(width, height), 0.299F);
    EXPECT_LT(std::max(width, height), 2 * std::min(width, height));
    EXPECT_LE(crop.window.x_max, 1.00001F);
    EXPECT_LE(crop.window.y_max, 1.00001F);
  }
  // The small object fails every limit but 0, so whole images and other windows are equally likely.
  EXPECT_NEAR(whole, kDraws / 2.0, 100);
}

TEST(DetectionCrop, DrawsAgainAfterWindowsThatFail) {
  // All limits but 0.9 are soon met.
  const std::array objects{kLarge};
  int whole = 0;
  for (int i = 0; i < kDraws; ++i) {
    RandomStream random(2, static_cast<std::uint64_t>(i));
    whole += is_whole(sample_detection_crop(objects, random).window) ? 1 : 0;
  }
  // A seventh of the draws is the whole image, and a seventh mostly fails.
  EXPECT_NEAR(whole, kDraws / 6.0, 60);
}

TEST(DetectionCrop, IsTheWholeImageWithoutObjects) {
  RandomStream random(3, 0);
  const DetectionCrop crop = sample_detection_crop({}, random);
  EXPECT_TRUE(is_whole(crop.window));
  EXPECT_TRUE(crop.objects.empty());
}

TEST(DetectionCrop, CutsBoxesAtTheWindow) {
  const RelativeBox window{.x_min = 0.5F, .y_min = 0.25F, .x_max = 1, .y_max = 0.75F};
  const RelativeBox cut = box_in_window(kLarge, window);
  EXPECT_FLOAT_EQ(cut.x_min, 0);
  EXPECT_FLOAT_EQ(cut.x_max, 0.8F);
  EXPECT_FLOAT_EQ(cut.y_min, 0);
  EXPECT_FLOAT_EQ(cut.y_max, 1);
}

TEST(DetectionCrop, RoundsItsPixelsDown) {
  const PixelWindow window = pixels_of({.x_min = 0.5F, .y_min = 0.25F, .x_max = 1, .y_max = 0.75F},
                                       {.width = 101, .height = 60});
  EXPECT_EQ(window.x, 50);
  EXPECT_EQ(window.width, 50);
  EXPECT_EQ(window.y, 14);
  EXPECT_EQ(window.height, 30);
  const PixelWindow pixel = pixels_of({}, {.width = 1, .height = 1});
  EXPECT_EQ(pixel.width, 1);
  EXPECT_EQ(pixel.height, 1);
}

}  // namespace
}  // namespace bench
