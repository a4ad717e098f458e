#include "variable_mgmt/world/remote_sum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <random>

#include "models/base/half.h"
#include "variable_mgmt/collectives/test/members.h"
#include "variable_mgmt/world/test/processes.h"

namespace bench {
namespace {

using testing::Each;
using testing::HasSubstr;

struct Shape {
  int processes;
  int towers;
};

std::vector<float> numbers(std::size_t count, int tower) {
  std::mt19937_64 random(static_cast<std::uint64_t>(tower) + 1);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) {
    value = normal(random);
  }
  return values;
}

/// Adds the towers' numbers in views of at most `view` elements; returns the sum on each tower.
std::vector<std::vector<float>> sums(const Shape& shape, std::size_t count, std::size_t view,
                                     const std::vector<AllReduceRange>& spec = {}) {
  FakeNetwork network(shape.processes);
  const std::size_t views = (count + view - 1) / view;
  std::vector<std::vector<float>> all(static_cast<std::size_t>(shape.processes * shape.towers));
  const auto errors = run_processes(network, [&](World& world) {
    const auto collective =
        make_world_collective(world, {.names = tower_names(shape.towers), .spec = spec});
    const auto failures = run_members(*collective, [&](const TestMember& member) {
      const int tower = world.rank() * shape.towers + member.rank;
      std::vector<float> values = numbers(count, tower);
      std::vector<CollectiveMember::Handle> handles;
      for (std::size_t begin = 0; begin < count; begin += view) {
        handles.push_back(member.member.start({.data = values.data() + begin,
                                               .elements = std::min(view, count - begin),
                                               .dtype = DType::f32,
                                               .index = handles.size()}));
      }
      for (const CollectiveMember::Handle handle : handles) {
        member.member.wait(handle, test_patience());
      }
      all[static_cast<std::size_t>(tower)] = values;
    });
    EXPECT_THAT(failures, Each(""));
  });
  EXPECT_THAT(errors, Each(""));
  EXPECT_EQ(static_cast<std::size_t>(network.sums()),
            spec.empty() ? 0 : views * static_cast<std::size_t>(shape.processes))
      << "sums by the transport";
  return all;
}

class RemoteSums : public testing::TestWithParam<Shape> {};

TEST_P(RemoteSums, AreTheSumOverAllTowersOfAllProcesses) {
  const Shape shape = GetParam();
  constexpr std::size_t kCount = 1000;
  std::vector<double> expected(kCount);
  for (int tower = 0; tower < shape.processes * shape.towers; ++tower) {
    const std::vector<float> values = numbers(kCount, tower);
    for (std::size_t i = 0; i < kCount; ++i) {
      expected[i] += static_cast<double>(values[i]);
    }
  }
  const auto all = sums(shape, kCount, kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_NEAR(all[0][i], expected[i], 1e-5);
  }
  EXPECT_THAT(all, Each(all[0])) << "the towers have different sums";
}

TEST_P(RemoteSums, AreTheSameBitsForEverySizeOfAView) {
  constexpr std::size_t kCount = 777;
  const auto whole = sums(GetParam(), kCount, kCount);
  for (const std::size_t view : {std::size_t{1}, std::size_t{100}, std::size_t{500}}) {
    EXPECT_EQ(sums(GetParam(), kCount, view)[0], whole[0]) << "views of " << view;
  }
}

TEST_P(RemoteSums, AreAddedByMpiInTheSameOrderOnAllProcesses) {
  constexpr std::size_t kCount = 777;
  const auto own = sums(GetParam(), kCount, kCount);
  const auto all = sums(GetParam(), kCount, 10, {{.algorithm = "mpi"}});
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_NEAR(all[0][i], own[0][i], 1e-5);
  }
  EXPECT_THAT(all, Each(all[0])) << "the towers have different sums";
}

INSTANTIATE_TEST_SUITE_P(Shapes, RemoteSums,
                         testing::Values(Shape{2, 1}, Shape{2, 2}, Shape{3, 1}, Shape{4, 1},
                                         Shape{2, 3}),
                         [](const auto& shape) {
                           return fmt::format("{}ProcessesOf{}", shape.param.processes,
                                              shape.param.towers);
                         });

TEST(RemoteSum, AddsSixteenBitsInF32) {
  constexpr int kProcesses = 3;
  FakeNetwork network(kProcesses);
  const auto errors = run_processes(network, [&](World& world) {
    const auto collective = make_world_collective(world, {.names = tower_names(1)});
    const auto failures = run_members(*collective, [&](const TestMember& member) {
      // In bf16, 256 + 1 is 256; in f32, 256 + 1 + 1 is 258.
      std::vector<Bfloat16> values(70, narrow_to_bfloat16(world.rank() == 0 ? 256 : 1));
      member.member.wait(
          member.member.start(
              {.data = values.data(), .elements = values.size(), .dtype = DType::bf16, .index = 0}),
          test_patience());
      EXPECT_EQ(widen(values.front()), 258);
      EXPECT_EQ(widen(values.back()), 258);
    });
    EXPECT_THAT(failures, Each(""));
  });
  EXPECT_THAT(errors, Each(""));
}

TEST(RemoteSum, EndsTheWaitsOfTowersIfARankFails) {
  FakeNetwork network(2);
  std::vector<std::string> failures;
  std::latch joined(2);
  run_processes(network, [&](World& world) {
    joined.arrive_and_wait();  // A failure before this ends rank 0's joining instead.
    if (world.rank() == 1) {
      world.fail("rank 1: the disk is full");
      return;
    }
    const auto collective = make_world_collective(world, {.names = tower_names(2)});
    failures = run_members(*collective, [&](const TestMember& member) {
      std::vector<float> values(100);
      member.member.wait(
          member.member.start(
              {.data = values.data(), .elements = values.size(), .dtype = DType::f32, .index = 0}),
          test_patience());
    });
  });
  EXPECT_EQ(failures.size(), 2U);
  EXPECT_THAT(failures, Each(HasSubstr("the disk is full")));
}

}  // namespace
}  // namespace bench
