#include "variable_mgmt/collectives/packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/errors.h"
#include "variable_mgmt/collectives/buckets.h"
#include "variable_mgmt/collectives/topology.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using Ranges = std::vector<IndexRange>;
using Singles = std::vector<std::size_t>;

ExtractedRanges extract(const std::vector<std::size_t>& indices) { return extract_ranges(indices); }

TEST(Packing, ExtractsRangesOfIndicesWithoutGaps) {
  EXPECT_EQ(extract({}), (ExtractedRanges{}));
  EXPECT_EQ(extract({1, 3, 4, 6, 7, 8, 9}),
            (ExtractedRanges{.ranges = Ranges{{3, 4}, {6, 9}}, .singles = Singles{1}}));
  EXPECT_EQ(extract({1, 2, 3, 4, 6, 7, 8, 9}),
            (ExtractedRanges{.ranges = Ranges{{1, 4}, {6, 9}}, .singles = {}}));
  EXPECT_EQ(extract({1, 3, 4, 6, 7, 9}),
            (ExtractedRanges{.ranges = Ranges{{3, 4}, {6, 7}}, .singles = Singles{1, 9}}));
  EXPECT_EQ(extract({1, 3, 6, 9}), (ExtractedRanges{.ranges = {}, .singles = Singles{1, 3, 6, 9}}));
}

TEST(Packing, ARangeHasUpToTwoIndicesMoreThanItsLimit) {
  EXPECT_EQ(extract_ranges(Singles{0, 1, 2, 3, 4, 5, 6}, 1).ranges, (Ranges{{0, 2}, {3, 5}}));
  EXPECT_EQ(extract_ranges(Singles{0, 1, 2, 3, 4, 5, 6}, 1).singles, (Singles{6}));
}

std::vector<GradientSize> gradients(const std::vector<std::size_t>& sizes) {
  std::vector<GradientSize> all;
  for (const std::size_t size : sizes) {
    all.push_back({.elements = size});
  }
  return all;
}

std::vector<std::size_t> packed_sizes(const std::vector<std::size_t>& sizes, std::int64_t max_bytes,
                                      std::int64_t max_group = 10) {
  std::vector<std::size_t> packed;
  for (const Pack& pack :
       pack_small(gradients(sizes), {.max_bytes = max_bytes, .max_group = max_group})) {
    packed.push_back(elements_of(pack));
  }
  return packed;
}

TEST(Packing, JoinsSmallGradientsThatFollowEachOther) {
  EXPECT_THAT(packed_sizes({4, 4, 9, 9}, 12), ElementsAre(4, 4, 9, 9));
  EXPECT_THAT(packed_sizes({4, 4, 9, 9}, 16), ElementsAre(8, 9, 9));
  EXPECT_THAT(packed_sizes({4, 4, 9, 9}, 256), ElementsAre(26));
  EXPECT_THAT(packed_sizes({8, 9, 12, 125}, 40), ElementsAre(17, 12, 125));
  EXPECT_THAT(packed_sizes({125, 6, 5}, 40), ElementsAre(11, 125));
  EXPECT_THAT(packed_sizes({125, 6, 5, 7, 100}, 40), ElementsAre(18, 125, 100));
}

TEST(Packing, LimitsOfZeroAndOtherTypesLeaveGradientsAlone) {
  EXPECT_THAT(packed_sizes({4, 4}, 0), ElementsAre(4, 4));
  EXPECT_THAT(packed_sizes({4, 4}, 100, 0), ElementsAre(4, 4));
  const std::vector<GradientSize> halves(3, {.elements = 4, .dtype = DType::bf16});
  EXPECT_EQ(pack_small(halves, {.max_bytes = 100}).size(), 3U);
  EXPECT_THAT(packed_sizes({1, 1, 1, 1, 1, 1, 1}, 100, 1), ElementsAre(3, 3, 1));
}

TEST(Packing, HasEveryElementOnce) {
  for (const std::int64_t max_bytes : {0, 16, 40, 1000}) {
    const std::vector<std::size_t> sizes{125, 6, 5, 0, 7, 100, 1, 2};
    std::vector<std::size_t> seen(sizes.size());
    for (const Pack& pack : pack_small(gradients(sizes), {.max_bytes = max_bytes})) {
      for (const PackedPart& part : pack) {
        EXPECT_EQ(part.begin, 0U);
        seen[part.tensor] += part.count;
      }
    }
    EXPECT_EQ(seen, sizes);
  }
}

TEST(Packing, RepacksIntoEqualPacksOfWhichTheLastTakesTheRest) {
  const auto packs = repack(gradients({3, 4, 0, 3}), 3);
  EXPECT_EQ(packs, (std::vector<Pack>{{{.tensor = 0, .begin = 0, .count = 3}},
                                      {{.tensor = 1, .begin = 0, .count = 3}},
                                      {{.tensor = 1, .begin = 3, .count = 1},
                                       {.tensor = 3, .begin = 0, .count = 3}}}));
  EXPECT_EQ(repack(gradients({5}), 5).size(), 5U);
  EXPECT_THROW(repack(gradients({5}), 6), UsageError);
  EXPECT_THROW(repack(gradients({5}), 0), UsageError);
}

TEST(Packing, APackIsOnePieceOfTheFlatRegion) {
  const std::vector<FlatPiece> region{
      {.offset = 0, .bytes = 12}, {.offset = 64, .bytes = 16}, {.offset = 128, .bytes = 12}};
  const auto packs = repack(gradients({3, 4, 3}), 2);
  EXPECT_EQ(piece_of(packs[0], region, DType::f32), (FlatPiece{.offset = 0, .bytes = 72}));
  EXPECT_EQ(piece_of(packs[1], region, DType::f32), (FlatPiece{.offset = 72, .bytes = 68}));
  const Pack reversed{{.tensor = 1, .begin = 0, .count = 4}, {.tensor = 0, .begin = 0, .count = 3}};
  EXPECT_THROW(piece_of(reversed, region, DType::f32), InternalError);
}

std::vector<FinalGradient> final_gradients(const std::vector<std::size_t>& bytes) {
  constexpr std::size_t kAlignment = 64;
  std::vector<FinalGradient> all;
  std::size_t offset = 0;
  for (const std::size_t each : bytes) {
    all.push_back({.piece = {.offset = offset, .bytes = each}, .final_step = 10 + all.size()});
    offset = (offset + each + kAlignment - 1) / kAlignment * kAlignment;
  }
  return all;
}

TEST(Buckets, CoverTheRegionWithASmallOneFirst) {
  const auto buckets = plan_buckets(final_gradients({64, 64, 64, 100, 500, 64, 64}),
                                    {.bytes = 256, .first_bytes = 128});
  EXPECT_EQ(buckets,
            (std::vector<GradientBucket>{
                {.gradients = {0, 1}, .piece = {.offset = 0, .bytes = 128}, .final_step = 11},
                {.gradients = {2, 3}, .piece = {.offset = 128, .bytes = 164}, .final_step = 13},
                {.gradients = {4, 4}, .piece = {.offset = 320, .bytes = 500}, .final_step = 14},
                {.gradients = {5, 6}, .piece = {.offset = 832, .bytes = 128}, .final_step = 16}}));
}

TEST(Buckets, AreReadyWithTheirLastGradient) {
  auto gradients = final_gradients({64, 64});
  gradients[0].final_step = 99;
  EXPECT_EQ(plan_buckets(gradients, {})[0].final_step, 99U);
  EXPECT_TRUE(plan_buckets({}, {}).empty());
}

TEST(Buckets, FirstIsNotLargerThanTheOthers) {
  EXPECT_EQ(plan_buckets(final_gradients({64, 64}), {.bytes = 64, .first_bytes = 128}).size(), 2U);
}

TEST(Buckets, MatchTheRequestedCountApproximately) {
  const auto gradients = final_gradients(std::vector<std::size_t>(100, 64 << 10));
  EXPECT_EQ(plan_buckets(gradients, {.count = 10}).size(), 10U);
  EXPECT_EQ(plan_buckets(gradients, {.bytes = 128 << 10, .count = 10}).size(), 50U);
  EXPECT_EQ(plan_buckets(gradients, {.count = 1000}).size(), 100U) << "none is below 64 KiB";
  EXPECT_TRUE(plan_buckets({}, {.count = 10}).empty());
}

TEST(Topology, LeadersAreAcrossTheHalves) {
  EXPECT_EQ(hierarchical_leaders("dgx1", 8, 1), (Leaders{1, 5}));
  EXPECT_EQ(hierarchical_leaders("dgx1", 8, 14), (Leaders{6, 2}));
  EXPECT_EQ(hierarchical_leaders("gcp_v100", 8, 0), (Leaders{0, 5}));
  EXPECT_EQ(hierarchical_leaders("gcp_v100", 8, 5), (Leaders{2, 7}));
  EXPECT_EQ(hierarchical_leaders("gcp_v100", 8, 2), (Leaders{5, 0}));
  EXPECT_EQ(hierarchical_leaders("gcp_v100", 8, 3), (Leaders{7, 2}));
  EXPECT_THROW(hierarchical_leaders("gcp_v100", 4, 0), UsageError);
  EXPECT_THROW(hierarchical_leaders("dgx1", 3, 0), UsageError);
  EXPECT_THROW(hierarchical_leaders("dgx2", 4, 0), UsageError);
}

TEST(Topology, GroupsDevicesInTurn) {
  EXPECT_THAT(group_devices(8, 4), ElementsAre(ElementsAre(0, 2, 4, 6), ElementsAre(1, 3, 5, 7)));
  EXPECT_THAT(group_devices(3, 2), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 0)));
  EXPECT_THROW(group_devices(2, 3), UsageError);
}

}  // namespace
}  // namespace bench
