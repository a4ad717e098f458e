#include "models/base/content_id.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(ContentId, IsTheSameAsItsCopiesAlone) {
  const ContentId first = ContentId::fresh();
  const ContentId copy = first;
  EXPECT_TRUE(first.same_as(copy));
  EXPECT_TRUE(first.same_as(first));
  EXPECT_FALSE(first.same_as(ContentId::fresh()));
}

TEST(ContentId, IsNeverReused) {
  ContentId id = ContentId::fresh();
  const ContentId remembered = id;
  for (int i = 0; i < 100; ++i) {
    id = ContentId::fresh();
    EXPECT_FALSE(id.same_as(remembered));
  }
}

TEST(ContentId, NamesNothingByDefault) {
  const ContentId nothing;
  EXPECT_FALSE(nothing.same_as(nothing));
  EXPECT_FALSE(nothing.same_as(ContentId::fresh()));
  EXPECT_FALSE(ContentId::fresh().same_as(nothing));
}

}  // namespace
}  // namespace bench
