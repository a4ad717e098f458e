#pragma once

// A scenario is a sequence of host calls on streams, and the resulting numbers. It runs under many
// schedules: a mistake shows under some schedule, correct code under none.

#include <functional>
#include <vector>

#include "kernels/gpu_emulator/test/emulated_test.h"

namespace bench::cuda::emulator {

/// Work runs when needed, at once, or by a drawn schedule.
constexpr std::uint64_t kSchedules[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};

constexpr unsigned kCount = 40;
constexpr std::size_t kBytes = kCount * sizeof(float);
using Values = std::vector<float>;
using Scenario = Values (*)();

inline Values all_of(float value) { return Values(kCount, value); }

/// A kernel.
inline void add(const float* from, float* to, float value) {
  to[threadIdx.x] = from[threadIdx.x] + value;
}

inline void launch_add(cudaStream_t stream, const float* from, float* to, float value) {
  launch(stream, {"add", 1, kCount}, add, from, to, value);
}

/// Enqueues a copy.
inline void copy(cudaStream_t stream, const float* from, float* to, std::size_t bytes = kBytes) {
  require(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
}

class ScenarioTest : public EmulatedTest {
 protected:
  static void expect_caught(const Values& expected, Scenario mistaken, Scenario right) {
    EXPECT_THAT(wrong_schedules(expected, mistaken), testing::Not(testing::IsEmpty()));
    EXPECT_THAT(wrong_schedules(expected, right), testing::IsEmpty());
  }

 private:
  static std::vector<std::uint64_t> wrong_schedules(const Values& expected, Scenario scenario) {
    std::vector<std::uint64_t> wrong;
    for (const std::uint64_t seed : kSchedules) {
      set_schedule(seed);
      if (scenario() != expected) {
        wrong.push_back(seed);
      }
    }
    set_schedule(0);
    return wrong;
  }
};

}  // namespace bench::cuda::emulator
