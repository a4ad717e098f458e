#include "bench/all_reduce/cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace bench {
namespace {

using ::testing::ElementsAre;

std::size_t total(const AllReduceCase& all) {
  return std::accumulate(all.elements.begin(), all.elements.end(), std::size_t{0});
}

AllReduceCase lenet(AllReduceOptions options) {
  options.model = "lenet";
  return cases_of(options).at(0);
}

TEST(AllReduceCases, HoldTheGradientsOfANetworkLastLayerFirst) {
  const AllReduceCase all = lenet({});
  // Two convolutions and two fully connected layers, each with a bias.
  ASSERT_EQ(all.elements.size(), 8U);
  EXPECT_EQ(all.elements.back(), 5U * 5 * 3 * 32);
  EXPECT_EQ(all.bytes(), total(all) * sizeof(float));
}

TEST(AllReduceCases, ArePackedAsAsked) {
  const std::size_t elements = total(lenet({}));
  const AllReduceCase repacked = lenet({.repacking = 3});
  EXPECT_EQ(repacked.elements.size(), 3U);
  EXPECT_EQ(total(repacked), elements);
  const AllReduceCase small = lenet({.small_max_bytes = 1 << 30, .small_max_group = 100});
  EXPECT_THAT(small.elements, ElementsAre(elements));
  const AllReduceCase buckets = lenet({.bucket_mb = 1});
  EXPECT_LT(buckets.elements.size(), 8U);
  EXPECT_GE(total(buckets), elements);
}

TEST(AllReduceCases, AreSizesInElementsOfTheType) {
  const auto cases = cases_of({.sizes = {2, 64}, .dtype = DType::bf16});
  EXPECT_THAT(cases.at(0).elements, ElementsAre(1));
  EXPECT_THAT(cases.at(1).elements, ElementsAre(32));
}

}  // namespace
}  // namespace bench
