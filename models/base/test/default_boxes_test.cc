#include "models/base/default_boxes.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace bench
