#include "variable_mgmt/collectives/collective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "kernels/forwarding_backend.h"
#include "kernels/test/far_device.h"
#include "models/base/half.h"
#include "variable_mgmt/collectives/schedule.h"
#include "variable_mgmt/collectives/test/members.h"

namespace bench {
namespace {

std::vector<AllReduceRange> algorithms_for(int members) {
  std::vector<AllReduceRange> ranges;
  for (const std::string& name : host_algorithms()) {
    ranges.push_back({.algorithm = name});
    if ((name == "xring" || name == "psgpu") && members > 1) {
      ranges.push_back({.algorithm = name, .shards = 2});
    }
  }
  if (members % 2 == 0) {
    ranges.push_back({.algorithm = "hierarchical/dgx1"});
  }
  if (members == 8) {
    ranges.push_back({.algorithm = "hierarchical/gcp_v100"});
  }
  return ranges;
}

void put(DType dtype, double value, std::byte* to) {
  switch (dtype) {
    case DType::f64:
      std::memcpy(to, &value, sizeof value);
      break;
    case DType::f32: {
      const auto single = static_cast<float>(value);
      std::memcpy(to, &single, sizeof single);
      break;
    }
    case DType::f16: {
      const Float16 half = narrow_to_float16(value);
      std::memcpy(to, &half, sizeof half);
      break;
    }
    default: {
      const Bfloat16 half = narrow_to_bfloat16(value);
      std::memcpy(to, &half, sizeof half);
    }
  }
}

std::vector<std::byte> to_elements(DType dtype, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * size_of(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    put(dtype, values[i], bytes.data() + i * size_of(dtype));
  }
  return bytes;
}

/// Whole numbers so small that eight of them add exactly in 16 bits, in any order.
std::vector<double> whole_numbers(std::size_t count, int rank) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<double>((i * 7 + static_cast<std::size_t>(rank) * 5) % 17) - 8;
  }
  return values;
}

std::vector<double> random_numbers(std::size_t count, int rank) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) + 1);
  std::normal_distribution<double> normal;
  std::vector<double> values(count);
  for (double& value : values) {
    value = normal(random);
  }
  return values;
}

using Values = std::function<std::vector<double>(std::size_t count, int rank)>;

/// Adds buffer views of these sizes with one collective, all concurrently. Returns each member's
/// memory afterwards, with the views concatenated.
std::vector<std::vector<std::byte>> add_views(
    Collective& collective, DType dtype, const std::vector<std::size_t>& sizes,
    const Values& values, const MakeBackend& make = [](int) { return make_reference_backend(); }) {
  std::vector<std::vector<std::byte>> results(static_cast<std::size_t>(collective.members()));
  std::size_t total = 0;
  for (const std::size_t size : sizes) {
    total += size;
  }
  const auto errors = run_members(
      collective,
      [&](const TestMember& self) {
        std::vector<std::byte>& result = results[static_cast<std::size_t>(self.rank)];
        result = to_elements(dtype, values(total, self.rank));
        const auto memory = self.backend.allocate(result.size());
        self.stream.upload(result, memory->data());
        std::vector<CollectiveMember::Handle> handles;
        std::byte* next = memory->data();
        for (std::size_t i = 0; i < sizes.size(); ++i) {
          handles.push_back(
              self.member.start({.data = next, .elements = sizes[i], .dtype = dtype, .index = i}));
          next += sizes[i] * size_of(dtype);
        }
        for (const auto handle : handles) {
          self.member.wait(handle, test_patience());
        }
        self.stream.download(memory->data(), result);
        self.stream.synchronize();
      },
      make);
  for (const std::string& error : errors) {
    EXPECT_EQ(error, "");
  }
  return results;
}

std::vector<std::vector<std::byte>> add_by(const AllReduceRange& range, int members, DType dtype,
                                           const std::vector<std::size_t>& sizes,
                                           const Values& values) {
  const auto collective = make_host_collective({.names = tower_names(members), .spec = {range}});
  return add_views(*collective, dtype, sizes, values);
}

constexpr DType kTypes[] = {DType::f32, DType::f64, DType::f16, DType::bf16};

class CollectiveOf : public ::testing::TestWithParam<int> {};

TEST_P(CollectiveOf, MembersAddsExactlyByEachAlgorithmInEachType) {
  const int members = GetParam();
  const std::vector<std::size_t> sizes{1, 0, 3, 100, 33, 2001};
  for (const AllReduceRange& range : algorithms_for(members)) {
    for (const DType dtype : kTypes) {
      SCOPED_TRACE(fmt::format("{} {}", name_of(range), name_of(dtype)));
      std::vector<double> expected(1 + 3 + 100 + 33 + 2001);
      for (int rank = 0; rank < members; ++rank) {
        const auto values = whole_numbers(expected.size(), rank);
        std::transform(expected.begin(), expected.end(), values.begin(), expected.begin(),
                       std::plus<>());
      }
      for (const auto& result : add_by(range, members, dtype, sizes, whole_numbers)) {
        EXPECT_EQ(result, to_elements(dtype, expected));
      }
    }
  }
}

TEST_P(CollectiveOf, MembersHasTheSameBitsOnEachAndEachTime) {
  const int members = GetParam();
  for (const AllReduceRange& range : algorithms_for(members)) {
    for (const DType dtype : kTypes) {
      SCOPED_TRACE(fmt::format("{} {}", name_of(range), name_of(dtype)));
      const auto first = add_by(range, members, dtype, {1500}, random_numbers);
      const auto second = add_by(range, members, dtype, {1500}, random_numbers);
      for (const auto& result : first) {
        EXPECT_EQ(result, first[0]);
      }
      EXPECT_EQ(first, second);
    }
  }
}

TEST_P(CollectiveOf, MembersHasTheSameBitsInPiecesWhereTheOrderIsEachElements) {
  const int members = GetParam();
  for (const AllReduceRange& range : algorithms_for(members)) {
    if (is_elementwise(range)) {
      for (const DType dtype : kTypes) {
        SCOPED_TRACE(fmt::format("{} {}", name_of(range), name_of(dtype)));
        EXPECT_EQ(add_by(range, members, dtype, {1501}, random_numbers),
                  add_by(range, members, dtype, {1, 700, 17, 500, 283}, random_numbers));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Towers, CollectiveOf, ::testing::Values(1, 2, 3, 4, 8));

TEST(Collective, AddsTenScalarsOfTenTowers) {
  constexpr int kTowers = 10;
  for (const AllReduceRange& range : algorithms_for(kTowers)) {
    SCOPED_TRACE(name_of(range));
    const auto results = add_by(range, kTowers, DType::f32, std::vector<std::size_t>(10, 1),
                                [](std::size_t count, int rank) {
                                  std::vector<double> values(count);
                                  for (std::size_t j = 0; j < count; ++j) {
                                    values[j] = kTowers * rank + static_cast<double>(j);
                                  }
                                  return values;
                                });
    std::vector<double> expected(10);
    for (std::size_t j = 0; j < expected.size(); ++j) {
      expected[j] = kTowers * 45 + kTowers * static_cast<double>(j);
    }
    for (const auto& result : results) {
      EXPECT_EQ(result, to_elements(DType::f32, expected));
    }
  }
}

TEST(Collective, TakesAlgorithmsBySize) {
  const auto collective = make_host_collective(
      {.names = tower_names(3), .spec = parse_all_reduce_spec("pscpu:1k:psgpu#2:64k:xring")});
  std::vector<double> expected(20000 + 3 + 600);
  for (int rank = 0; rank < 3; ++rank) {
    const auto values = whole_numbers(expected.size(), rank);
    std::transform(expected.begin(), expected.end(), values.begin(), expected.begin(),
                   std::plus<>());
  }
  for (const auto& result : add_views(*collective, DType::f32, {20000, 3, 600}, whole_numbers)) {
    EXPECT_EQ(result, to_elements(DType::f32, expected));
  }
}

TEST(Collective, AddsBufferViewsOfSeveralPieces) {
  constexpr std::size_t kMany = (std::size_t{1} << 20) + 77777;
  std::vector<double> expected(kMany);
  for (int rank = 0; rank < 3; ++rank) {
    const auto values = whole_numbers(kMany, rank);
    std::transform(expected.begin(), expected.end(), values.begin(), expected.begin(),
                   std::plus<>());
  }
  for (const std::string algorithm : {"pscpu", "tree"}) {
    for (const auto& result :
         add_by({.algorithm = algorithm}, 3, DType::f32, {kMany}, whole_numbers)) {
      EXPECT_TRUE(result == to_elements(DType::f32, expected)) << algorithm;
    }
  }
}

/// The reference backend with three threads for the host's work.
class ThreadedBackend final : public ForwardingBackend {
 public:
  explicit ThreadedBackend(Backend& inner) : ForwardingBackend(inner) {}
  HostThreads host_threads() override {
    return {.count = 3, .run = [](const std::function<void(int)>& part) {
              std::vector<std::jthread> threads;
              for (int i = 0; i < 3; ++i) {
                threads.emplace_back([&part, i] { part(i); });
              }
            }};
  }
};

TEST(Collective, UsesSeveralThreadsWithoutChangingABit) {
  const std::vector<std::size_t> sizes{300001, 40000};
  const auto collective = make_host_collective({.names = tower_names(2)});
  const auto inner = make_reference_backend();
  const auto threaded = add_views(*collective, DType::bf16, sizes, random_numbers,
                                  [&](int) { return std::make_unique<ThreadedBackend>(*inner); });
  EXPECT_EQ(threaded, add_by({.algorithm = "shm"}, 2, DType::bf16, sizes, random_numbers));
}

TEST(Collective, AddsInMemoryThatTheHostMayNotTouch) {
  const std::vector<std::size_t> sizes{1000, 1, 3333};
  const auto expected = add_by({.algorithm = "shm"}, 4, DType::f32, sizes, random_numbers);
  for (const FarSchedule& schedule : far_schedules(6)) {
    for (const AllReduceRange& range :
         {AllReduceRange{.algorithm = "shm"}, {.algorithm = "psgpu"}}) {
      const auto collective = make_host_collective({.names = tower_names(4), .spec = {range}});
      const auto results = add_views(*collective, DType::f32, sizes, random_numbers, [&](int) {
        return make_far_backend(make_reference_backend(), schedule);
      });
      EXPECT_EQ(results, expected) << "seed " << schedule.seed;
    }
  }
}

}  // namespace
}  // namespace bench
