#include "bench/plan/processor_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/flags/test/usage_error.h"

namespace bench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::StartsWith;

/// The processors of each tower.
std::vector<std::vector<int>> shared(const std::string& machine, const ShareRequest& request) {
  std::vector<std::vector<int>> all;
  for (const ProcessorShare& share : share_processors(synthetic_topology(machine), request)) {
    all.push_back(share.processors);
  }
  return all;
}

std::vector<std::optional<int>> nodes(const std::string& machine, const ShareRequest& request) {
  std::vector<std::optional<int>> all;
  for (const ProcessorShare& share : share_processors(synthetic_topology(machine), request)) {
    all.push_back(share.numa_node);
  }
  return all;
}

std::string refusal(const std::string& machine, const ShareRequest& request) {
  return usage_error([&] { share_processors(synthetic_topology(machine), request); });
}

TEST(ShareProcessors, DividesTheCoresInTheirOrder) {
  EXPECT_THAT(shared("core:5 pu:1", {.towers = 2}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(shared("pack:2 core:2 pu:2", {.towers = 2}),
              ElementsAre(ElementsAre(0, 2), ElementsAre(4, 6)));
  EXPECT_THAT(shared("core:2 pu:2", {.towers = 1}), ElementsAre(ElementsAre(0, 2)));
  EXPECT_THAT(nodes("pack:2 [numa] core:2 pu:1", {.towers = 2}),
              ElementsAre(std::nullopt, std::nullopt));
}

TEST(ShareProcessors, SharesCoresWhereThereAreTooFew) {
  EXPECT_THAT(shared("core:2 pu:2", {.towers = 3}),
              ElementsAre(ElementsAre(0), ElementsAre(2), ElementsAre(1)));
}

TEST(ShareProcessors, GivesAllOfACoreToOneTower) {
  EXPECT_THAT(shared("core:2 pu:2", {.towers = 2, .threads = 2}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(shared("core:4 pu:2", {.towers = 2, .threads = 3}),
              ElementsAre(ElementsAre(0, 2, 1), ElementsAre(4, 6, 5)));
  // With three threads each, the towers do not fit into separate cores.
  EXPECT_THAT(shared("core:3 pu:2", {.towers = 2, .threads = 3}),
              ElementsAre(ElementsAre(0, 2, 4), ElementsAre(1, 3, 5)));
}

TEST(ShareProcessors, GivesEachTowerSeparateCaches) {
  EXPECT_THAT(shared("l3:2 core:4 pu:1", {.towers = 2, .threads = 3}),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(4, 5, 6)));
  EXPECT_THAT(shared("l3:2 core:4 pu:1", {.towers = 4, .threads = 1}),
              ElementsAre(ElementsAre(0), ElementsAre(2), ElementsAre(4), ElementsAre(6)));
}

TEST(ProcessorsToDecodeOn, AreTheProcessorsThatNoTowerUses) {
  EXPECT_THAT(processors_to_decode_on({0, 1, 2, 3, 6}, {{1, 0}, {3}}, 1), ElementsAre(2, 6));
  EXPECT_THAT(processors_to_decode_on({0, 1, 2}, {{0, 1}, {2}}, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(processors_to_decode_on({0, 1}, {}, 2), ElementsAre(0, 1));
}

// Some cores are left because they do not divide evenly, but fewer than decoding threads need.
TEST(ProcessorsToDecodeOn, AreAllIfTheTowersLeaveTooFew) {
  const std::vector<int> all{0, 1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<std::vector<int>> towers{{0, 1, 2, 3}, {4, 5, 6, 7}};
  EXPECT_THAT(processors_to_decode_on(all, towers, 1), ElementsAre(8));
  EXPECT_THAT(processors_to_decode_on(all, towers, 2), ElementsAreArray(all));
}

TEST(ShareProcessors, RefusesMoreTowersThanProcessors) {
  EXPECT_THAT(
      refusal("core:3 pu:1", {.towers = 4}),
      HasSubstr(
          "--num_gpus=4: this process may use 3 processors, but each device needs at least one"));
  EXPECT_THAT(refusal("core:1 pu:1", {.towers = 2}), HasSubstr("may use 1 processor, but"));
  EXPECT_THAT(
      refusal("core:3 pu:1", {.towers = 2, .threads = 2}),
      HasSubstr("--num_gpus=2 --num_intra_threads=2: this process may use 3 processors, but "
                "each device needs 2"));
  EXPECT_THAT(refusal("core:3 pu:1", {.towers = 4, .asked = "--scaling_sweep=1,2,4"}),
              StartsWith("--scaling_sweep=1,2,4: this process may use 3 processors"));
}

TEST(ShareProcessors, KeepsEachTowerToOneNodeWhereAsked) {
  // Three cores per node: without this option the second of three towers would span both nodes.
  const std::string machine = "pack:2 [numa] core:3 pu:1";
  EXPECT_THAT(shared(machine, {.towers = 3}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5)));
  EXPECT_THAT(shared(machine, {.towers = 3, .within_nodes = true}),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(3)));
  EXPECT_THAT(nodes(machine, {.towers = 3, .within_nodes = true}), ElementsAre(0, 0, 1));
}

TEST(ShareProcessors, GivesALoneTowerOneNode) {
  EXPECT_THAT(shared("pack:2 [numa] core:3 pu:2", {.towers = 1, .within_nodes = true}),
              ElementsAre(ElementsAre(0, 2, 4)));
  const std::vector<int> allowed{0, 3, 4, 5};
  const auto shares = share_processors(synthetic_topology("pack:2 [numa] core:3 pu:1", allowed),
                                       {.towers = 1, .within_nodes = true});
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_THAT(shares[0].processors, ElementsAre(3, 4, 5)) << "the node of which most may be used";
  EXPECT_EQ(shares[0].numa_node, 1);
}

TEST(ShareProcessors, SpreadsTowersOverTheNodes) {
  const std::string machine = "pack:2 [numa] core:4 pu:2";
  EXPECT_THAT(shared(machine, {.towers = 2, .threads = 2, .within_nodes = true}),
              ElementsAre(ElementsAre(0, 2), ElementsAre(8, 10)));
  EXPECT_THAT(nodes(machine, {.towers = 4, .threads = 1, .within_nodes = true}),
              ElementsAre(0, 0, 1, 1));
  // Second hardware threads are used only if there are too few cores.
  EXPECT_THAT(shared(machine, {.towers = 2, .threads = 6, .within_nodes = true}),
              ElementsAre(ElementsAre(0, 2, 4, 6, 1, 3), ElementsAre(8, 10, 12, 14, 9, 11)));
}

TEST(ShareProcessors, NamesTheNodesAsTheSystemDoes) {
  EXPECT_THAT(nodes("pack:1 numa:2(indexes=1,0) core:2 pu:1", {.towers = 2, .within_nodes = true}),
              ElementsAre(0, 1));
}

TEST(ShareProcessors, RefusesATowerThatFitsInNoNode) {
  EXPECT_THAT(
      refusal("pack:2 [numa] core:2 pu:1", {.towers = 1, .threads = 3, .within_nodes = true}),
      AllOf(HasSubstr("--num_intra_threads=3 --use_numa_affinity"),
            HasSubstr("this process may use 2 and 2 processors on its NUMA nodes, but each "
                      "device needs 3 on one node")));
  EXPECT_THAT(
      refusal("pack:2 [numa] core:3 pu:1", {.towers = 3, .threads = 2, .within_nodes = true}),
      HasSubstr("--num_gpus=3 --num_intra_threads=2 --use_numa_affinity"));
}

TEST(ThreadsPerTower, EqualThoseOfTheShares) {
  const Topology topology = synthetic_topology("pack:2 [numa] core:3 pu:2");
  EXPECT_EQ(threads_per_tower(topology, {.towers = 2}), 3);
  EXPECT_EQ(threads_per_tower(topology, {.towers = 4}), 1);
  EXPECT_EQ(threads_per_tower(topology, {.towers = 64}), 1);
  EXPECT_EQ(threads_per_tower(topology, {.towers = 3}), 2);
  EXPECT_EQ(threads_per_tower(topology, {.towers = 3, .within_nodes = true}), 1);
  EXPECT_EQ(threads_per_tower(topology, {.towers = 2, .threads = 5}), 5);
}

TEST(ThreadsWithinQuota, UseItWhole) {
  EXPECT_EQ(threads_within_quota(0.2, 8), 1);
  EXPECT_EQ(threads_within_quota(2, 8), 2);
  EXPECT_EQ(threads_within_quota(2.5, 8), 3);
  EXPECT_EQ(threads_within_quota(12, 8), 8);
}

}  // namespace
}  // namespace bench
