#include "models/base/near_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::array<std::string_view, 5> kModels = {"trivial", "lenet", "resnet50",
                                                     "resnet50_v1.5", "vgg16"};

TEST(EditDistance, CountsSingleChanges) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("momentum", "mometnum"), 1);
}

TEST(EditDistance, IgnoresCase) { EXPECT_EQ(edit_distance("nhwc", "NHWC"), 0); }

TEST(NearNames, ListWhatContainsTheNameThenTheNearest) {
  EXPECT_THAT(near_names("resnet51", kModels), ElementsAre("resnet50"));
  EXPECT_THAT(near_names("resnet50v1.5", kModels), ElementsAre("resnet50_v1.5"));
  EXPECT_THAT(near_names("resnet", kModels), ElementsAre("resnet50", "resnet50_v1.5", "lenet"));
}

TEST(NearNames, AreEmptyWhenNothingIsNear) {
  EXPECT_THAT(near_names("mobilenet_v9", kModels), IsEmpty());
  EXPECT_THAT(near_names("", kModels), IsEmpty());
}

TEST(NearNames, AllowOneChangeInFourLetters) {
  constexpr std::array<std::string_view, 2> kNames = {"store", "format"};
  EXPECT_THAT(near_names("stor", kNames), ElementsAre("store"));
  EXPECT_THAT(near_names("stre", kNames), ElementsAre("store"));
  EXPECT_THAT(near_names("sort", kNames), IsEmpty());
}

TEST(NearNames, ListWhatBeginsWithThreeLetters) {
  EXPECT_THAT(near_names("vgg", kModels), ElementsAre("vgg16"));
  EXPECT_THAT(near_names("net", kModels), IsEmpty());
  EXPECT_THAT(near_names("vg", kModels), IsEmpty());
}

TEST(DidYouMean, AsksForOneOrTwo) {
  EXPECT_EQ(did_you_mean({}), "");
  EXPECT_EQ(did_you_mean(std::array<std::string_view, 2>{"a", "b"}, "--"),
            "; did you mean --a or --b?");
}

}  // namespace
}  // namespace bench
