#include "kernels/cpu/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <fstream>
#include <iterator>
#include <set>

#include "models/base/errors.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

Topology restricted(const std::string& description, const std::vector<int>& allowed) {
  return synthetic_topology(description, std::span<const int>(allowed));
}

// They bring tens of MiB of libraries, and drivers of GPUs.
TEST(DiscoverTopology, LoadsNoPlugIns) {
  discover_topology();
  std::ifstream maps("/proc/self/maps");
  EXPECT_THAT((std::string{std::istreambuf_iterator<char>(maps), {}}),
              AllOf(HasSubstr("libhwloc.so"), Not(HasSubstr("/hwloc/hwloc_"))));
}

TEST(Caches, AreThoseOfTheGivenProcessors) {
  const std::string machine = "pack:2 l3:1(size=32MB) l2:4(size=1MB) l1d:1(size=32KB) core:1 pu:2";
  const std::vector<int> two_cores{0, 2};
  EXPECT_THAT(synthetic_caches(machine, two_cores),
              ElementsAre(CacheLevel{.level = 1, .bytes = 64'000, .share = 64'000},
                          CacheLevel{.level = 2, .bytes = 2'000'000, .share = 2'000'000},
                          CacheLevel{.level = 3, .bytes = 32'000'000, .share = 16'000'000}));
  const std::vector<int> one_core_of_each_package{0, 8};
  EXPECT_THAT(synthetic_caches(machine, one_core_of_each_package),
              ElementsAre(CacheLevel{.level = 1, .bytes = 64'000, .share = 64'000},
                          CacheLevel{.level = 2, .bytes = 2'000'000, .share = 2'000'000},
                          CacheLevel{.level = 3, .bytes = 64'000'000, .share = 16'000'000}));
}

TEST(Caches, AreEmptyIfTheMachineDoesNotReportThem) {
  const std::vector<int> all{0, 1};
  EXPECT_THAT(synthetic_caches("core:2 pu:1", all), ElementsAre());
}

TEST(ChooseProcessors, TakesOneHardwareThreadPerCore) {
  EXPECT_THAT(choose_processors(synthetic_topology("pack:2 core:4 pu:2"), std::nullopt),
              ElementsAre(0, 2, 4, 6, 8, 10, 12, 14));
  EXPECT_THAT(choose_processors(synthetic_topology("pack:1 core:2 pu:1"), std::nullopt),
              ElementsAre(0, 1));
}

TEST(ChooseProcessors, FillsCoresBeforeTheirSecondThreads) {
  const Topology topology = synthetic_topology("pack:1 core:3 pu:2");
  EXPECT_THAT(choose_processors(topology, 2), ElementsAre(0, 2));
  EXPECT_THAT(choose_processors(topology, 4), ElementsAre(0, 2, 4, 1));
  EXPECT_THAT(choose_processors(topology, 6), ElementsAre(0, 2, 4, 1, 3, 5));
}

TEST(ChooseProcessors, FillsOnePackageBeforeTheNext) {
  EXPECT_THAT(choose_processors(synthetic_topology("pack:2 core:2 pu:2"), 3), ElementsAre(0, 2, 4));
}

// Many machines number the first threads of all cores before the second ones.
TEST(ChooseProcessors, UsesCoresNotNumbers) {
  const Topology topology = synthetic_topology("pack:1 core:2 pu:2(indexes=0,2,1,3)");
  EXPECT_THAT(choose_processors(topology, std::nullopt), ElementsAre(0, 1));
  EXPECT_THAT(choose_processors(topology, 4), ElementsAre(0, 1, 2, 3));
}

TEST(ChooseProcessors, UsesOnlyAllowedProcessors) {
  EXPECT_THAT(choose_processors(restricted("pack:2 core:4 pu:2", {3, 8, 9}), std::nullopt),
              ElementsAre(3, 8));
  EXPECT_THAT(choose_processors(restricted("pack:2 core:4 pu:2", {3, 8, 9}), 3),
              ElementsAre(3, 8, 9));
  EXPECT_THAT(choose_processors(restricted("pack:1 core:2 pu:2", {3}), std::nullopt),
              ElementsAre(3));
}

TEST(ChooseProcessors, RefusesMoreThreadsThanProcessors) {
  const Topology topology = restricted("pack:2 core:4 pu:2", {0, 1, 2});
  EXPECT_THAT([&] { choose_processors(topology, 4); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("4 threads"),
                                              HasSubstr("1 to 3 processors (2 physical cores)"))));
  EXPECT_THROW(choose_processors(topology, 0), UsageError);
  EXPECT_THROW(choose_processors(topology, -1), UsageError);
  EXPECT_THROW(choose_processors(Topology{}, std::nullopt), UsageError);
}

TEST(SyntheticTopology, GivesPackageNodeCoreAndSibling) {
  const Topology topology = synthetic_topology("pack:2 [numa] core:1 pu:2");
  EXPECT_THAT(
      topology.processors,
      ElementsAre(Processor{.id = 0, .package = 0, .numa_node = 0, .core = 0, .sibling = 0},
                  Processor{.id = 1, .package = 0, .numa_node = 0, .core = 0, .sibling = 1},
                  Processor{.id = 2, .package = 1, .numa_node = 1, .core = 1, .sibling = 0},
                  Processor{.id = 3, .package = 1, .numa_node = 1, .core = 1, .sibling = 1}));
}

TEST(SyntheticTopology, OrdersByNodeWithinAPackage) {
  const Topology topology = synthetic_topology("pack:1 numa:2(indexes=1,0) core:2 pu:1");
  std::vector<int> nodes;
  for (const Processor& each : topology.processors) nodes.push_back(each.numa_node);
  EXPECT_THAT(nodes, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(choose_processors(topology, std::nullopt), ElementsAre(2, 3, 0, 1));
}

TEST(SyntheticTopology, RefusesWhatHwlocDoesNotUnderstand) {
  EXPECT_THAT([] { synthetic_topology("two sockets"); },
              ThrowsMessage<UsageError>(HasSubstr("'two sockets'")));
}

TEST(DiscoverTopology, StaysWithinTheAffinityMask) {
  cpu_set_t old;
  ASSERT_EQ(sched_getaffinity(0, sizeof(old), &old), 0);
  const Topology all = discover_topology();
  std::set<int> ids;
  for (const Processor& each : all.processors) {
    EXPECT_TRUE(CPU_ISSET(static_cast<unsigned>(each.id), &old));
    EXPECT_TRUE(ids.insert(each.id).second);
  }
  const int last = all.processors.back().id;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(last), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  const Topology narrow = discover_topology();
  ASSERT_EQ(sched_setaffinity(0, sizeof(old), &old), 0);
  ASSERT_EQ(narrow.processors.size(), 1U);
  EXPECT_EQ(narrow.processors[0].id, last);
  EXPECT_EQ(narrow.processors[0].sibling, 0);
}

}  // namespace
}  // namespace bench
