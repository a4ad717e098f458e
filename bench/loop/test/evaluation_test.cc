#include "bench/loop/evaluation.h"

#include <gtest/gtest.h>

#include <limits>

namespace bench {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

EvaluationCounts counted(const std::vector<float>& row, std::int32_t label) {
  return count_evaluated(row, std::span(&label, 1), std::vector<char>{1});
}

TEST(EvaluationCounts, CountALabelWithFewLargerLogits) {
  const std::vector<float> row{6, 5, 4, 3, 2, 1};
  EXPECT_EQ(counted(row, 0).top_1, 1);
  EXPECT_EQ(counted(row, 1).top_1, 0);
  EXPECT_EQ(counted(row, 4).top_5, 1);
  EXPECT_EQ(counted(row, 5).top_5, 0);
}

TEST(EvaluationCounts, CountEqualLogits) { EXPECT_EQ(counted({2, 2, 2}, 1).top_1, 1); }

TEST(EvaluationCounts, CountNoRowWithANumberThatIsNotFinite) {
  EXPECT_EQ(counted({6, kNan, 4}, 0).top_1, 0);
  EXPECT_EQ(counted({6, kNan, 4}, 0).top_5, 0);
  EXPECT_EQ(counted({std::numeric_limits<float>::infinity(), 1}, 0).top_1, 0);
}

TEST(EvaluationCounts, CountOnlyTheChosenRows) {
  const std::vector<float> rows{1, 0, 1, 0, 1, 0};
  const std::vector<std::int32_t> labels{0, 1, 0};
  const EvaluationCounts counts = count_evaluated(rows, labels, std::vector<char>{1, 0, 1});
  EXPECT_EQ(counts.images, 2);
  EXPECT_EQ(counts.top_1, 2);
  EXPECT_EQ(counts.top_5, 2);
}

}  // namespace
}  // namespace bench
