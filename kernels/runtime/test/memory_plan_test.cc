#include "kernels/runtime/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/base/errors.h"
#include "models/base/philox.h"

namespace bench {
namespace {

std::vector<PlannedTensor> random_tensors(std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<PlannedTensor> tensors(1 + random.below(120));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto first = static_cast<std::int32_t>(random.below(60));
    tensors[i] = {.bytes = random.below(5000),
                  .first_step = first,
                  .last_step = first + static_cast<std::int32_t>(random.below(20)),
                  .shares = std::nullopt};
    if (i > 0 && random.below(5) == 0) {
      tensors[i].shares = random.below(static_cast<std::uint32_t>(i));
    }
  }
  return tensors;
}

bool live_together(const PlannedTensor& a, const PlannedTensor& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

/// The tensor at the beginning of a chain of shares.
std::size_t root(const std::vector<PlannedTensor>& tensors, std::size_t i) {
  return tensors[i].shares ? root(tensors, *tensors[i].shares) : i;
}

constexpr std::uint64_t kSeeds = 300;

TEST(MemoryPlan, NeverOverlapsTensorsAliveTogether) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto tensors = random_tensors(seed);
    const MemoryPlan plan = plan_memory(tensors);
    for (std::size_t a = 0; a < tensors.size(); ++a) {
      EXPECT_LE(plan.offsets[a] + tensors[a].bytes, plan.total_bytes);
      for (std::size_t b = 0; b < a; ++b) {
        if (root(tensors, a) == root(tensors, b) || !live_together(tensors[a], tensors[b])) {
          continue;
        }
        const bool apart = plan.offsets[a] + tensors[a].bytes <= plan.offsets[b] ||
                           plan.offsets[b] + tensors[b].bytes <= plan.offsets[a];
        EXPECT_TRUE(apart) << "seed " << seed << ", tensors " << a << " and " << b;
      }
    }
  }
}

TEST(MemoryPlan, GivesSharingTensorsOnePlace) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto tensors = random_tensors(seed);
    const MemoryPlan plan = plan_memory(tensors);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      EXPECT_EQ(plan.offsets[i], plan.offsets[root(tensors, i)]) << "seed " << seed;
    }
  }
}

TEST(MemoryPlan, TakesNoLessThanTheFullestStepAndNoMoreThanTheSum) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    auto tensors = random_tensors(seed);
    std::size_t sum = 0;
    for (PlannedTensor& tensor : tensors) {
      tensor.shares.reset();
      sum += align_up(tensor.bytes);
    }
    std::size_t fullest = 0;
    for (std::int32_t step = 0; step < 80; ++step) {
      std::size_t now = 0;
      for (const PlannedTensor& tensor : tensors) {
        now += tensor.first_step <= step && step <= tensor.last_step ? align_up(tensor.bytes) : 0;
      }
      fullest = std::max(fullest, now);
    }
    const std::size_t total = plan_memory(tensors).total_bytes;
    EXPECT_GE(total, fullest) << "seed " << seed;
    EXPECT_LE(total, sum) << "seed " << seed;
  }
}

TEST(MemoryPlan, AlignsEveryOffsetAndKeepsGuardsFree) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    auto tensors = random_tensors(seed);
    for (PlannedTensor& tensor : tensors) {
      tensor.shares.reset();
    }
    constexpr std::size_t kGuard = 64;
    const std::size_t alignment = seed % 2 == 0 ? 64 : 256;
    const MemoryPlan plan = plan_memory(tensors, {.alignment = alignment, .guard_bytes = kGuard});
    for (std::size_t a = 0; a < tensors.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % alignment, 0U);
      for (std::size_t b = 0; b < tensors.size(); ++b) {
        if (a != b && live_together(tensors[a], tensors[b]) && plan.offsets[a] <= plan.offsets[b]) {
          EXPECT_LE(plan.offsets[a] + tensors[a].bytes + kGuard, plan.offsets[b])
              << "seed " << seed;
        }
      }
    }
  }
}

TEST(MemoryPlan, ReusesTheMemoryOfDeadTensors) {
  const std::vector<PlannedTensor> chain{
      {.bytes = 4096, .first_step = 0, .last_step = 1, .shares = {}},
      {.bytes = 4096, .first_step = 1, .last_step = 2, .shares = {}},
      {.bytes = 4096, .first_step = 2, .last_step = 3, .shares = {}},
      {.bytes = 4096, .first_step = 3, .last_step = 4, .shares = {}}};
  EXPECT_EQ(plan_memory(chain).total_bytes, 2 * 4096U);
}

TEST(MemoryPlan, RefusesToShareALaterTensor) {
  const std::vector<PlannedTensor> wrong{{.bytes = 1, .shares = 1},
                                         {.bytes = 1, .shares = std::nullopt}};
  EXPECT_THROW(plan_memory(wrong), InternalError);
}

}  // namespace
}  // namespace bench
