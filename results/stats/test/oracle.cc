#include "results/stats/test/oracle.h"

#include <gtest/gtest.h>

#include <fstream>

namespace bench::results::stats {

nlohmann::json oracle(const std::string& name) {
  std::ifstream file(STATS_ORACLE);
  return nlohmann::json::parse(file).at(name);
}

std::vector<double> numbers(const nlohmann::json& list) { return list.get<std::vector<double>>(); }

void expect_interval(const std::optional<Interval>& ours, const nlohmann::json& theirs) {
  ASSERT_EQ(ours.has_value(), !theirs.is_null());
  if (!ours) return;
  EXPECT_NEAR(ours->low, theirs[0].get<double>(), 1e-9);
  EXPECT_NEAR(ours->high, theirs[1].get<double>(), 1e-9);
}

}  // namespace bench::results::stats
