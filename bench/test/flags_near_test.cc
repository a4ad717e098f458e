#include "bench/flags_near.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StrEq;

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

TEST(UnknownValue, NamesGivenAcceptedAndNear) {
  EXPECT_THAT(unknown_value("model", "lenett", kModels).what(),
              StrEq("--model=lenett: unknown value; accepted are trivial, lenet, resnet50, "
                    "resnet50_v1.5, vgg16; did you mean lenet?"));
}

TEST(UnknownValue, PointsToTheListWhereThereAreTooMany) {
  const std::vector<std::string_view> names = {"trivial", "lenet"};
  EXPECT_THAT(unknown_value("model", "lenett", names, "list_models").what(),
              StrEq("--model=lenett: unknown value; did you mean lenet? --list_models lists all"));
  EXPECT_THAT(unknown_value("model", "quux", names, "list_models").what(),
              StrEq("--model=quux: unknown value; --list_models lists all"));
}

TEST(UnknownFlag, NamesNearFlags) {
  EXPECT_THAT(unknown_flag("batchsize").what(),
              testing::HasSubstr("--batchsize: unknown flag; did you mean --batch_size"));
  EXPECT_THAT(unknown_flag("batch-size").what(), testing::HasSubstr("--batch_size"));
  EXPECT_THAT(unknown_flag("learning_rate").what(), testing::HasSubstr("--init_learning_rate"));
  EXPECT_THAT(unknown_flag("noforward_onli").what(), testing::HasSubstr("--noforward_only"));
}

TEST(UnknownFlag, PointsToTheHelpWhenNothingIsNear) {
  EXPECT_THAT(unknown_flag("quux").what(), StrEq("--quux: unknown flag; --help lists all flags"));
}

}  // namespace
}  // namespace bench
