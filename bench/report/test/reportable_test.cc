#include "bench/report/reportable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const results::Source kClean{.git_rev = "abc", .dirty = false};
const results::Build kRelease{.build_type = "Release"};

RecordSettings repeated(std::int64_t runs) {
  return {.repeats = {.runs = runs}, .reportable = true};
}

results::Record good_record() {
  results::Record record;
  record.status = results::Status::kOk;
  record.source = kClean;
  record.build = kRelease;
  record.load.steal_share = 0.001;
  return record;
}

TEST(Reportable, TakesACleanBuildWithSixRepeats) {
  EXPECT_THAT(violations_before(kClean, kRelease, repeated(6)), IsEmpty());
  EXPECT_THAT(violations_after(good_record()), IsEmpty());
}

TEST(Reportable, RefusesABuildThatIsNotReproducible) {
  EXPECT_THAT(violations_before({.dirty = true}, kRelease, repeated(6)),
              ElementsAre(HasSubstr("uncommitted changes")));
  EXPECT_THAT(violations_before({.dirty = Unknown{"no git"}}, kRelease, repeated(6)),
              ElementsAre(HasSubstr("no git")));
  EXPECT_THAT(
      violations_before(kClean, {.build_type = "Debug", .sanitizer = "address"}, repeated(6)),
      ElementsAre(HasSubstr("Debug"), HasSubstr("address")));
}

TEST(Reportable, RefusesTooFewRepeats) {
  EXPECT_THAT(violations_before(kClean, kRelease, repeated(5)),
              ElementsAre(HasSubstr("too few repeats: 5")));
  RecordSettings one_of_a_group = repeated(1);
  one_of_a_group.labels.group_id = "g";
  EXPECT_THAT(violations_before(kClean, kRelease, one_of_a_group), IsEmpty());
  one_of_a_group.own_repeat = 0;
  EXPECT_THAT(violations_before(kClean, kRelease, one_of_a_group),
              ElementsAre(HasSubstr("too few repeats: 1")));
}

TEST(Reportable, RefusesABusyMachine) {
  results::Record record = good_record();
  record.quality.warnings = {"other work keeps 2 processors busy"};
  record.load.busy = std::vector<results::BusyProcess>{{"cc1plus", 0.5}};
  record.load.steal_share = 0.05;
  record.load.throttling.periods = 3;
  EXPECT_THAT(violations_after(record),
              ElementsAre(HasSubstr("other work"), HasSubstr("kept 0.5 processors busy"),
                          HasSubstr("hypervisor"), HasSubstr("cgroup")));
}

TEST(Reportable, RefusesARunThatWasNotCheckedOrFailed) {
  results::Record record = good_record();
  record.verification.skipped = "no fingerprint of this size";
  EXPECT_THAT(violations_after(record), ElementsAre(HasSubstr("not checked: no fingerprint")));
  record.status = results::Status::kFailed;
  record.status_reason = "something else";
  EXPECT_THAT(violations_after(record), ElementsAre(HasSubstr("failed or ended early: something")));
}

TEST(Reportable, IsJudgedOnlyOnRequest) {
  results::Record record = good_record();
  judge_reportable(record, {});
  EXPECT_FALSE(record.labels.reportable.known());
  judge_reportable(record, repeated(6));
  EXPECT_TRUE(record.labels.reportable.value());
  judge_reportable(record, repeated(1));
  EXPECT_FALSE(record.labels.reportable.value());
  EXPECT_EQ(record.labels.violations.size(), 1);
}

}  // namespace
}  // namespace bench
