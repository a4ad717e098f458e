#include "models/base/shape.h"

#include <gtest/gtest.h>

#include "models/base/errors.h"

namespace bench {
namespace {

TEST(Shape, CountsItsElementsAndPrints) {
  EXPECT_EQ(Shape({2, 3, 4, 5}).elements(), 120);
  EXPECT_EQ(Shape().elements(), 1);
  EXPECT_EQ(to_string(Shape({2, 3})), "2x3");
  EXPECT_EQ(to_string(Shape()), "scalar");
}

TEST(Shape, RefusesInvalidAxes) {
  EXPECT_THROW((void)Shape({2})[1], InternalError);
  EXPECT_THROW(Shape({1, 2, 3, 4, 5, 6}), InternalError);
  EXPECT_THROW(Shape({-1}), InternalError);
}

TEST(Shape, ComparesByExtents) {
  EXPECT_EQ(Shape({2, 3}), Shape({2, 3}));
  EXPECT_NE(Shape({2, 3}), Shape({2, 3, 1}));
}

}  // namespace
}  // namespace bench
