#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "models/base/errors.h"
#include "results/stats/distributions.h"
#include "results/stats/group_summary.h"
#include "results/stats/multiplicity.h"
#include "results/stats/sequential.h"
#include "results/stats/test/oracle.h"

namespace bench::results::stats {
namespace {

TEST(Distributions, AgreeWithScipy) {
  for (const auto& one : oracle("student")) {
    EXPECT_NEAR(student_quantile(one[0], one[1]), one[2].get<double>(), 1e-6) << one;
  }
  for (const auto& one : oracle("normal")) {
    EXPECT_NEAR(normal_quantile(one[0]), one[1].get<double>(), 1e-9);
    EXPECT_NEAR(normal_cdf(one[1]), one[0].get<double>(), 1e-9);
  }
  EXPECT_THROW(normal_quantile(1), InternalError);
}

TEST(MedianInterval, AgreesWithScipysBinomial) {
  for (const auto& one : oracle("median_interval")) {
    SCOPED_TRACE(fmt::format("{} values", one["x"].size()));
    expect_interval(median_interval(numbers(one["x"]), 0.05), one["interval"]);
  }
}

TEST(GroupSummary, SaysWhatIsKnownOfFewRuns) {
  const GroupSummary three = group_summary(std::vector<double>{101, 99, 100});
  EXPECT_EQ(three.median, 100);
  EXPECT_FALSE(three.interval);
  EXPECT_EQ(three.min, 99);
  EXPECT_EQ(three.max, 101);
  EXPECT_NEAR(*three.cv, 0.01, 1e-12);
  EXPECT_FALSE(group_summary(std::vector<double>{5}).cv);
  EXPECT_THROW(group_summary({}), InternalError);
}

TEST(GroupSummary, HalfTheIntervalIsRelativeToTheMedian) {
  const GroupSummary six = group_summary(std::vector<double>{98, 99, 100, 100, 101, 102});
  EXPECT_NEAR(*six.half, 0.02, 1e-12);
}

TEST(Multiplicity, AgreesWithTheDefinitions) {
  for (const auto& one : oracle("adjusted")) {
    const std::vector<double> p = numbers(one["p"]);
    const std::vector<double> bh = benjamini_hochberg(p);
    const std::vector<double> by_holm = holm(p);
    for (std::size_t i = 0; i < p.size(); ++i) {
      EXPECT_NEAR(bh[i], one["bh"][i].get<double>(), 1e-12);
      EXPECT_NEAR(by_holm[i], one["holm"][i].get<double>(), 1e-12);
    }
  }
}

TEST(Multiplicity, RejectsAsInThePublishedExample) {
  // Benjamini and Hochberg (1995), section 4: 15 p values. At 5 %, their method rejects four and
  // Holm's three.
  const std::vector<double> p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const auto rejected = [](const std::vector<double>& adjusted) {
    return std::count_if(adjusted.begin(), adjusted.end(), [](double q) { return q <= 0.05; });
  };
  EXPECT_EQ(rejected(benjamini_hochberg(p)), 4);
  EXPECT_EQ(rejected(holm(p)), 3);
}

TEST(Sequential, LooksAreFixed) {
  EXPECT_FALSE(last_look(7));
  EXPECT_EQ(last_look(8), 8);
  EXPECT_EQ(last_look(11), 8);
  EXPECT_EQ(last_look(30), 24);
  std::vector<double> values = {100, 101, 99, 100, 102, 98, 100};
  EXPECT_FALSE(look_half_width(values)) << "at 98.75 % seven values have no interval";
  values.push_back(100);
  EXPECT_NEAR(*look_half_width(values), 0.02, 1e-12);
}

TEST(Sequential, EveryLookCanEndTheRunsAndAllTogetherKeepAlpha) {
  for (const std::size_t look : kLooks) {
    EXPECT_TRUE(look_half_width(std::vector<double>(look, 100))) << look;
  }
  EXPECT_DOUBLE_EQ(kLookAlpha * static_cast<double>(kLooks.size()), 0.05);
}

}  // namespace
}  // namespace bench::results::stats
