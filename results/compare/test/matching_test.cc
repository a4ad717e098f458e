#include "results/compare/matching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "models/base/errors.h"
#include "results/compare/test/made_runs.h"

namespace bench::results {
namespace {

using ::testing::HasSubstr;

TEST(Matching, PairsRunsOfTheSameWorkload) {
  const std::vector<StoredRun> base = {made_run({.model = "vgg16"}), made_run({}), made_run({})};
  const std::vector<StoredRun> other = {made_run({}), made_run({.model = "vgg16"})};
  const Matching matching = match_workloads(base, other, {});
  ASSERT_EQ(matching.workloads.size(), 2);
  EXPECT_EQ(matching.workloads[0].workload, "resnet50 train bs64 f32");
  EXPECT_EQ(matching.workloads[0].base.size(), 2);
  EXPECT_EQ(matching.workloads[0].other.size(), 1);
  EXPECT_TRUE(matching.unmatched.empty());
}

TEST(Matching, RefusesAnotherBatchSizeAndNamesIt) {
  const std::vector<StoredRun> base = {made_run({.batch = 64})};
  const std::vector<StoredRun> other = {made_run({.batch = 32})};
  try {
    match_workloads(base, other, {});
    FAIL() << "was compared";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("workload.batch_per_device (64 vs. 32)"));
    EXPECT_THAT(error.what(), HasSubstr("--ignore"));
  }
}

TEST(Matching, AnIgnoredFieldMayDiffer) {
  const std::vector<StoredRun> base = {made_run({.layout = "NCHW"})};
  const std::vector<StoredRun> other = {made_run({.layout = "NHWC"})};
  EXPECT_THROW(match_workloads(base, other, {}), DataError);
  EXPECT_EQ(match_workloads(base, other, {"layout"}).workloads.size(), 1);
  EXPECT_EQ(match_workloads(base, other, {"workload.layout"}).workloads.size(), 1);
  EXPECT_NO_THROW(check_fields(base, {"layout"}, "ignore"));
  EXPECT_THROW(check_fields(base, {"out"}, "ignore"), UsageError);
}

TEST(Matching, GivesWorkloadsOfOneTextDistinctNames) {
  const std::vector<StoredRun> both = {made_run({.layout = "NHWC"}), made_run({.layout = "NCHW"})};
  const Matching matching = match_workloads(both, both, {});
  ASSERT_EQ(matching.workloads.size(), 2);
  EXPECT_EQ(matching.workloads[0].workload, "resnet50 train bs64 f32 (layout NCHW)");
  EXPECT_EQ(matching.workloads[1].workload, "resnet50 train bs64 f32 (layout NHWC)");
  EXPECT_EQ(matching.workloads[1].base.front()->record.at("workload").at("layout"), "NHWC");
}

TEST(Matching, NamesWorkloadsOfOneSideOnly) {
  const std::vector<StoredRun> base = {made_run({}), made_run({.batch = 32})};
  const std::vector<StoredRun> other = {made_run({})};
  const Matching matching = match_workloads(base, other, {});
  ASSERT_EQ(matching.unmatched.size(), 1);
  EXPECT_THAT(matching.unmatched[0], HasSubstr("resnet50 train bs32 f32 is only in base"));
}

}  // namespace
}  // namespace bench::results
