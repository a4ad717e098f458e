#include "models/base/default_boxes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

namespace bench {
namespace {

/// The sums are those of tf_cnn_benchmarks' own code.
TEST(DefaultBoxes, AreThoseOfTheOriginal) {
  CenteredBox sum;
  for (const CenteredBox& box : default_boxes()) {
    sum.y += box.y;
    sum.x += box.x;
    sum.height += box.height;
    sum.width += box.width;
  }
  EXPECT_EQ(default_boxes().size(), 8732U);
  EXPECT_NEAR(sum.y, 4443.14667, 1e-5);
  EXPECT_NEAR(sum.x, 4443.14667, 1e-5);
  EXPECT_NEAR(sum.height, 1171.96767, 1e-5);
  EXPECT_NEAR(sum.width, 1171.96767, 1e-5);
}

TEST(DefaultBoxes, GoThroughTheColumnsFirst) {
  const CenteredBox& first = default_boxes()[0];
  EXPECT_DOUBLE_EQ(first.y, 4.0 / 300);
  EXPECT_DOUBLE_EQ(first.x, 4.0 / 300);
  EXPECT_DOUBLE_EQ(first.height, 21.0 / 300);
  EXPECT_DOUBLE_EQ(first.width, 21.0 / 300);
  EXPECT_DOUBLE_EQ(default_boxes()[1].y, 4.0 / 300);
  EXPECT_DOUBLE_EQ(default_boxes()[1].x, 12.0 / 300);
  const CenteredBox& wide = default_boxes()[2 * 38 * 38];
  EXPECT_GT(wide.width, wide.height);
}

std::vector<std::size_t> matched(const std::vector<std::int32_t>& matches, std::int32_t object) {
  std::vector<std::size_t> boxes;
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (matches[i] == object) {
      boxes.push_back(i);
    }
  }
  return boxes;
}

TEST(MatchedBoxes, OverlapTheObjectByHalf) {
  constexpr std::size_t kBox = 8000;
  const Box object = corners_of(default_boxes()[kBox]);
  const std::vector<std::int32_t> matches = match_default_boxes(std::array{object});
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const double overlap = intersection_over_union(object, corners_of(default_boxes()[i]));
    EXPECT_EQ(matches[i] == 0, overlap >= 0.5) << i;
  }
  EXPECT_EQ(matches[kBox], 0);
}

TEST(MatchedBoxes, IncludeOneForATinyObject) {
  const std::array<Box, 2> objects{
      {{.y_min = 0.501, .x_min = 0.501, .y_max = 0.503, .x_max = 0.503},
       {.y_min = 0, .x_min = 0, .y_max = 1, .x_max = 1}}};
  const std::vector<std::int32_t> matches = match_default_boxes(objects);
  EXPECT_EQ(matched(matches, 0).size(), 1U);
  EXPECT_GT(matched(matches, 1).size(), 1U);
}

TEST(MatchedBoxes, GoToTheFirstOfEqualObjects) {
  const Box object = corners_of(default_boxes()[8000]);
  const std::vector<std::int32_t> matches = match_default_boxes(std::array{object, object});
  EXPECT_FALSE(matched(matches, 0).empty());
  EXPECT_TRUE(matched(matches, 1).empty());
}

TEST(BoxOffsets, AreZeroForTheDefaultBoxAndReversible) {
  const CenteredBox& box = default_boxes()[5000];
  for (const float offset : offsets_of(corners_of(box), box)) {
    EXPECT_NEAR(offset, 0, 1e-5);
  }
  const Box object{.y_min = 0.2, .x_min = 0.3, .y_max = 0.6, .x_max = 0.5};
  const Box found = corners_of(box_at(offsets_of(object, box), box));
  EXPECT_NEAR(found.y_min, object.y_min, 1e-6);
  EXPECT_NEAR(found.x_min, object.x_min, 1e-6);
  EXPECT_NEAR(found.y_max, object.y_max, 1e-6);
  EXPECT_NEAR(found.x_max, object.x_max, 1e-6);
}

/// The numbers are those of TensorFlow's object detection.
TEST(BoxOffsets, AreThoseOfTheOriginal) {
  const Box object{
      .y_min = 0.560000002, .x_min = 0.266666681, .y_max = 0.666666687, .x_max = 0.346666664};
  const BoxOffsets offsets = offsets_of(object, default_boxes()[847]);
  constexpr std::array<float, 4> kExpected{1.90476F, 0, 2.106069F, 0.6676561F};
  for (std::size_t i = 0; i < kExpected.size(); ++i) {
    EXPECT_NEAR(offsets.at(i), kExpected.at(i), 1e-5) << i;
  }
}

}  // namespace
}  // namespace bench
