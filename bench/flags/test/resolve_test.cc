#include "bench/flags/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/flags/table.h"
#include "bench/flags/test/usage_error.h"

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ResolvePlacement, TakesTheGpuWhereThereIsOne) {
  const Placement placement = resolve_placement({}, "");
  EXPECT_EQ(placement.device, "gpu");
  EXPECT_EQ(placement.data_format, "NHWC");
  EXPECT_THAT(placement.notices, ElementsAre(HasSubstr("NHWC")));
}

TEST(ResolvePlacement, FallsBackToTheCpuWithANotice) {
  const Placement placement = resolve_placement({}, "the host has no GPU");
  EXPECT_EQ(placement.device, "cpu");
  EXPECT_EQ(placement.data_format, "auto");
  EXPECT_THAT(
      placement.notices,
      ElementsAre(HasSubstr("bench uses the CPU because no GPU can be used: the host has no GPU")));
}

TEST(ResolvePlacement, TakesWhatWasGiven) {
  const Placement placement =
      resolve_placement(parse({"--device=CPU", "--data_format=NHWC"}).flags, "");
  EXPECT_EQ(placement.device, "cpu");
  EXPECT_EQ(placement.data_format, "NHWC");
  EXPECT_THAT(placement.notices, IsEmpty());
}

TEST(ResolvePlacement, SaysThatNchwIsSlowOnTheCpu) {
  const Placement placement =
      resolve_placement(parse({"--device=cpu", "--data_format=NCHW"}).flags, "the host has no GPU");
  EXPECT_EQ(placement.data_format, "NCHW");
  EXPECT_THAT(placement.notices, ElementsAre(HasSubstr("slower")));
}

TEST(ResolveDataName, IsImagenetForSyntheticData) { EXPECT_EQ(resolve_data_name({}), "imagenet"); }

TEST(ResolveDataName, IsFoundInTheFolder) {
  EXPECT_EQ(resolve_data_name(parse({"--data_dir=/data/imagenet_small"}).flags), "imagenet");
  EXPECT_EQ(resolve_data_name(parse({"--data_dir=/data/cifar10"}).flags), "cifar10");
}

TEST(ResolveDataName, PrefersTheFlag) {
  EXPECT_EQ(resolve_data_name(parse({"--data_dir=/data/cifar10", "--data_name=imagenet"}).flags),
            "imagenet");
}

TEST(ResolveDataName, RefusesFoldersOfAnUnknownDataset) {
  EXPECT_THAT(usage_error([] { resolve_data_name(parse({"--data_dir=/data/photos"}).flags); }),
              AllOf(HasSubstr(fmt::format("give --data_name, one of {}",
                                          describe_values(*find_flag("data_name")))),
                    HasSubstr("in a folder per class, give --data_name=imagenet")));
}

}  // namespace
}  // namespace bench
