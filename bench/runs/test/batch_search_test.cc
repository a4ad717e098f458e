#include "bench/runs/batch_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kTolerance = 0.02;

/// A machine that runs batch 2^i at the i-th speed; larger batches do not fit.
struct Machine {
  std::vector<double> speeds = {};
  std::vector<std::int64_t> asked = {};

  BatchSearch search() {
    return search_batch(
        [this](std::int64_t batch) -> std::optional<results::BatchTrial> {
          asked.push_back(batch);
          const auto i = static_cast<std::size_t>(std::lround(std::log2(batch)));
          if (i >= speeds.size()) {
            return std::nullopt;
          }
          return results::BatchTrial{.batch = batch, .images_per_sec = speeds[i], .steps = 5};
        },
        kTolerance);
  }
};

TEST(BatchSearch, StopsWhenTwoSizesInARowGainNothing) {
  Machine machine{.speeds = {10, 20, 30, 30.1, 30.2, 99}};
  EXPECT_EQ(machine.search().chosen, 4);
  EXPECT_THAT(machine.asked, ElementsAre(1, 2, 4, 8, 16));
}

TEST(BatchSearch, GoesOnAfterOneSizeThatGainsNothing) {
  Machine machine{.speeds = {10, 20, 19, 40, 40, 40}};
  EXPECT_EQ(machine.search().chosen, 8);
  EXPECT_THAT(machine.asked, ElementsAre(1, 2, 4, 8, 16, 32));
}

TEST(BatchSearch, TakesTheSmallestWithinTheToleranceOfTheBest) {
  Machine flat{.speeds = {50, 98, 98.1, 99.9}};
  EXPECT_EQ(flat.search().chosen, 2);
  Machine steep{.speeds = {50, 97.9, 98, 100}};
  EXPECT_EQ(steep.search().chosen, 4);
}

TEST(BatchSearch, TakesTheBestBatchThatFits) {
  Machine machine{.speeds = {1, 2, 4}};
  const BatchSearch found = machine.search();
  EXPECT_EQ(found.chosen, 4);
  EXPECT_THAT(machine.asked, ElementsAre(1, 2, 4, 8));
  ASSERT_EQ(found.tried.size(), 3U);
  EXPECT_EQ(found.tried[2].batch, 4);
  EXPECT_EQ(found.tried[2].images_per_sec, 4);
}

TEST(BatchSearch, TakesOneImageWhereMoreAreSlower) {
  Machine machine{.speeds = {10, 9, 8, 7}};
  EXPECT_EQ(machine.search().chosen, 1);
  EXPECT_THAT(machine.asked, ElementsAre(1, 2, 4));
}

TEST(BatchSearch, ChoosesNothingWhereNothingFits) {
  Machine machine;
  const BatchSearch found = machine.search();
  EXPECT_EQ(found.chosen, 0);
  EXPECT_THAT(found.tried, IsEmpty());
}

TEST(BatchSearch, EndsAtTheLargestBatchThatTheFlagTakes) {
  Machine machine;
  for (int i = 0; i < 40; ++i) {
    machine.speeds.push_back(std::exp2(i));
  }
  EXPECT_EQ(machine.search().chosen, 1 << 30);
}

}  // namespace
}  // namespace bench
