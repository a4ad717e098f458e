#include "bench/runs/repeats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Repeats with given speeds.
struct Repeated {
  explicit Repeated(const RepeatSettings& settings, const std::vector<double>& speeds,
                    int failing = -1, int interrupted_after = -1, int disturbed = -1) {
    status = repeat(
        settings,
        [&](int index) {
          runs.push_back(index);
          return RepeatOutcome{.status = index == failing ? 1 : 0,
                               .speed = speeds.at(static_cast<std::size_t>(index)),
                               .disturbed = index == disturbed};
        },
        [&] { ++waits; }, [&] { return static_cast<int>(runs.size()) == interrupted_after; },
        {.out = out, .err = err});
  }

  std::ostringstream out{};
  std::ostringstream err{};
  std::vector<int> runs{};
  int waits = 0;
  int status = 0;
};

std::vector<double> alternating(std::size_t count, double spread) {
  std::vector<double> speeds;
  for (std::size_t i = 0; i < count; ++i)
    speeds.push_back(100 * (1 + (i % 2 == 0 ? 1 : -1) * spread));
  return speeds;
}

TEST(Repeats, PrintEachRunAndTheirMedian) {
  const Repeated few({.runs = 3}, {10, 12, 11});
  EXPECT_THAT(few.runs, ElementsAre(0, 1, 2));
  EXPECT_EQ(few.waits, 2);
  EXPECT_THAT(few.out.str(),
              HasSubstr("median of 3 runs: 11.00 images/sec, from 10.00 to 12.00 (a 95 "
                        "% interval needs 6 runs)\n"));
  const Repeated many({.runs = 6}, {10, 15, 11, 14, 12, 13});
  EXPECT_THAT(many.out.str(),
              HasSubstr("median of 6 runs: 12.50 images/sec, 95 % interval 10.00 to "
                        "15.00\n"));
}

TEST(Repeats, MarkTheRunsThatWereDisturbed) {
  EXPECT_THAT(Repeated({.runs = 2}, {10, 9}, -1, -1, 1).out.str(),
              HasSubstr("  1       10.00\n  2        9.00  disturbed\n"));
}

TEST(Repeats, EndWhereTheIntervalIsNarrowEnough) {
  const RepeatSettings settings{.runs = 24, .until_ci = 0.01};
  EXPECT_EQ(Repeated(settings, alternating(24, 0.002)).runs.size(), 8) << "the first look";
  const Repeated wide(settings, alternating(24, 0.05));
  EXPECT_EQ(wide.runs.size(), 24);
  EXPECT_THAT(
      wide.err.str(),
      HasSubstr("--until_ci: after all 24 runs, the interval's half-width is 5.00 % of the median; "
                "the target is 1.00 %\n"));
}

TEST(Repeats, PrintTheIntervalThatEndedThem) {
  // The 95 % interval of these twelve runs is 98.5 to 101.5.
  const std::vector<double> speeds = {90,  98,    98.5, 99,    99.5, 100,
                                      100, 100.5, 101,  101.5, 102,  110};
  const Repeated repeated({.runs = 24, .until_ci = 0.025}, speeds);
  EXPECT_EQ(repeated.runs.size(), 12);
  EXPECT_THAT(
      repeated.out.str(),
      HasSubstr("median of 12 runs: 100.00 images/sec, 98.75 % interval 98.00 to 102.00 "
                "(used at each check of --until_ci, so that all checks together give 95 %)\n"));
  EXPECT_THAT(repeated.err.str(), testing::Not(HasSubstr("--until_ci: ")));
}

TEST(Repeats, SayIfTheLastRunIsNotChecked) {
  const Repeated ten({.runs = 10, .until_ci = 0.01}, alternating(10, 0.05));
  EXPECT_THAT(
      ten.err.str(),
      HasSubstr(
          "--until_ci: after the first 8 runs, the interval's half-width is 5.00 % of the median; "
          "the target is 1.00 %; bench does not check after 10 runs\n"));
  const Repeated five({.runs = 5, .until_ci = 0.01}, alternating(5, 0.002));
  EXPECT_THAT(five.err.str(),
              HasSubstr("--until_ci: 5 runs are too few, because the first check is after 8\n"));
}

TEST(Repeats, EndWithARunThatFails) {
  const Repeated failed({.runs = 5}, alternating(5, 0), 2);
  EXPECT_THAT(failed.runs, ElementsAre(0, 1, 2));
  EXPECT_EQ(failed.status, 1);
  EXPECT_THAT(failed.out.str(), HasSubstr("median of 2 runs"));
}

TEST(Repeats, EndIfTheUserInterrupts) {
  EXPECT_EQ(Repeated({.runs = 5}, alternating(5, 0), -1, 2).runs.size(), 2);
}

TEST(Repeats, HaveSeparateFiles) {
  RunSettings settings;
  settings.outputs.files.result = "run.json";
  EXPECT_EQ(settings_of_repeat(settings).outputs.files.result, "run.json");
  settings.outputs.record.own_repeat = 1;
  EXPECT_EQ(settings_of_repeat(settings).outputs.files.result, "run.repeat1.json");
}

}  // namespace
}  // namespace bench
