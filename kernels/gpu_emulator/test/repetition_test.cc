// Kernel results must not depend on the order of lanes and blocks, or on uninitialized bytes.

#include "kernels/gpu_emulator/test/emulated_test.h"

namespace bench::cuda::emulator {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kLanes = 64;
constexpr const char* kLanesRace =
    "depends on the order of lanes: a barrier is missing, or several lanes write there";
constexpr const char* kBlocksRace = "depends on the order of blocks: several blocks write there";

std::vector<float> ascending(int count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (int index = 0; index < count; ++index) {
    values[static_cast<std::size_t>(index)] = static_cast<float>(index);
  }
  return values;
}

class RepetitionTest : public EmulatedTest {
 protected:
  using Kernel = void (*)(const float*, float*);

  /// Runs `blocks` blocks of 64 lanes, from ascending numbers to memory of the same size.
  static std::string failure_of_kernel(Kernel kernel, unsigned blocks = 1) {
    const int count = kLanes * static_cast<int>(blocks);
    const OnDevice<float> from(ascending(count));
    const OnDevice<float> to(std::vector<float>(static_cast<std::size_t>(count)));
    return repeated_failure_of([&] {
      launch(nullptr, {"planted", blocks, kLanes}, kernel, from.data(), to.data());
    });
  }

  static auto says(const char* text) {
    return AllOf(HasSubstr("kernel planted: byte "), HasSubstr(" of an allocation of "),
                 HasSubstr(text));
  }
};

template <bool barrier>
void reverse(const float* from, float* to) {
  BENCH_SHARED(float, values[kLanes]);
  values[threadIdx.x] = from[threadIdx.x];
  if (barrier) {
    __syncthreads();
  }
  to[threadIdx.x] = values[kLanes - 1 - threadIdx.x];
}

TEST_F(RepetitionTest, ReadingWhatOthersWriteNeedsABarrier) {
  EXPECT_THAT(failure_of_kernel(reverse<false>), says(kLanesRace));
  EXPECT_THAT(failure_of_kernel(reverse<true>), IsEmpty());
}

TEST_F(RepetitionTest, OneRunAloneShowsAMissingBarrierOnlyByItsResult) {
  std::vector<std::vector<float>> results;
  for (const std::uint64_t order : kLaneOrders) {
    for (const Kernel kernel : {reverse<false>, reverse<true>}) {
      set_lane_order(order);
      const OnDevice<float> from(ascending(kLanes));
      const OnDevice<float> to(kLanes);
      launch(nullptr, {"planted", 1, kLanes}, kernel, from.data(), to.data());
      results.push_back(to.values());
    }
  }
  std::vector<float> expected = ascending(kLanes);
  std::reverse(expected.begin(), expected.end());
  for (std::size_t order = 0; order < results.size(); order += 2) {
    EXPECT_NE(results[order], expected) << "without the barrier";
    EXPECT_EQ(results[order + 1], expected) << "with the barrier";
  }
}

template <bool barrier>
void rotate(const float* from, float* to) {
  BENCH_SHARED(float, values[kLanes]);
  values[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  const float next = values[(threadIdx.x + 1) % kLanes];
  if (barrier) {
    __syncthreads();
  }
  values[threadIdx.x] = next;
  __syncthreads();
  to[threadIdx.x] = values[threadIdx.x];
}

TEST_F(RepetitionTest, WritingOverWhatOthersReadNeedsABarrier) {
  EXPECT_THAT(failure_of_kernel(rotate<false>), says(kLanesRace));
  EXPECT_THAT(failure_of_kernel(rotate<true>), IsEmpty());
}

template <bool barrier>
void reverse_in_warp(const float* from, float* to) {
  BENCH_SHARED(float, values[kLanes]);
  values[threadIdx.x] = from[threadIdx.x];
  if (barrier) {
    __syncwarp();
  }
  to[threadIdx.x] = values[threadIdx.x ^ (kWarpLanes - 1)];
}

TEST_F(RepetitionTest, AWarpDoesNotRunInLockstepWithoutABarrier) {
  EXPECT_THAT(failure_of_kernel(reverse_in_warp<false>), says(kLanesRace));
  EXPECT_THAT(failure_of_kernel(reverse_in_warp<true>), IsEmpty());
}

template <bool barrier>
void reverse_through_global(const float* from, float* to) {
  to[threadIdx.x] = from[threadIdx.x];
  if (barrier) {
    __syncthreads();
  }
  const float other = to[kLanes - 1 - threadIdx.x];
  __syncthreads();
  to[threadIdx.x] = other;
}

TEST_F(RepetitionTest, TheDevicesMemoryNeedsABarrierTooWithinABlock) {
  EXPECT_THAT(failure_of_kernel(reverse_through_global<false>), says(kLanesRace));
  EXPECT_THAT(failure_of_kernel(reverse_through_global<true>), IsEmpty());
}

template <bool one_writer>
void write_one_element(const float* from, float* to) {
  if (!one_writer || threadIdx.x == 5) {
    to[0] = from[threadIdx.x];
  }
}

TEST_F(RepetitionTest, OneLaneWritesAnElement) {
  EXPECT_THAT(failure_of_kernel(write_one_element<false>), says(kLanesRace));
  EXPECT_THAT(failure_of_kernel(write_one_element<true>), IsEmpty());
}

template <bool own_element>
void write_from_blocks(const float* from, float* to) {
  if (threadIdx.x == 0) {
    to[own_element ? blockIdx.x : 0] = from[blockIdx.x];
  }
}

TEST_F(RepetitionTest, OneBlockWritesAnElement) {
  EXPECT_THAT(failure_of_kernel(write_from_blocks<false>, 4), says(kBlocksRace));
  EXPECT_THAT(failure_of_kernel(write_from_blocks<true>, 4), IsEmpty());
}

template <bool waits>
void read_from_neighbour_block(const float* from, float* to) {
  const unsigned last = gridDim.x - 1;
  const unsigned own = blockIdx.x * blockDim.x + threadIdx.x;
  to[own] = from[own];
  if (!waits && blockIdx.x < last) {
    to[own] += to[own + blockDim.x];
  }
}

TEST_F(RepetitionTest, NoBlockReadsWhatAnotherWrites) {
  EXPECT_THAT(failure_of_kernel(read_from_neighbour_block<false>, 4),
              says("depends on the order of blocks"));
  EXPECT_THAT(failure_of_kernel(read_from_neighbour_block<true>, 4), IsEmpty());
}

template <bool by_ticket>
void take_a_place(const float* from, float* to) {
  BENCH_SHARED(unsigned, tickets[1]);
  if (threadIdx.x == 0) {
    tickets[0] = 0;
  }
  __syncthreads();
  const unsigned ticket = atomicAdd(&tickets[0], 1U);
  to[by_ticket ? ticket : threadIdx.x] = from[threadIdx.x];
}

TEST_F(RepetitionTest, AtomicsGiveNoOrder) {
  EXPECT_THAT(failure_of_kernel(take_a_place<true>), says(kLanesRace));
  EXPECT_THAT(failure_of_kernel(take_a_place<false>), IsEmpty());
}

// Integer sums do not depend on the order. Sums of floats would, so float atomics do not exist.
template <class T>
constexpr bool kAddsAtomically = requires(T* sum, T value) {
  atomicAdd(sum, value);
};
static_assert(kAddsAtomically<int> && kAddsAtomically<unsigned>);
static_assert(!kAddsAtomically<float> && !kAddsAtomically<double> && !kAddsAtomically<__half>);

template <bool all_set>
void sum_shared(const float* from, float* to) {
  BENCH_SHARED(float, values[kLanes]);
  if (all_set || threadIdx.x != 9) {
    values[threadIdx.x] = from[threadIdx.x];
  }
  __syncthreads();
  float sum = 0;
  for (const float value : values) {
    sum += value;
  }
  to[threadIdx.x] = sum;
}

TEST_F(RepetitionTest, SharedMemoryIsSetBeforeItIsRead) {
  EXPECT_THAT(failure_of_kernel(sum_shared<false>), says("depends on uninitialized shared memory"));
  EXPECT_THAT(failure_of_kernel(sum_shared<true>), IsEmpty());
}

/// Writes what the next block would read.
template <bool sets>
void leave_for_next_block(const float* from, float* to) {
  BENCH_SHARED(float, values[kLanes]);
  if (sets || blockIdx.x == 0) {
    values[threadIdx.x] = from[threadIdx.x];
  }
  to[blockIdx.x * blockDim.x + threadIdx.x] = values[threadIdx.x];
}

TEST_F(RepetitionTest, SharedMemoryIsNotKeptFromBlockToBlock) {
  EXPECT_THAT(failure_of_kernel(leave_for_next_block<false>, 2),
              says("depends on uninitialized shared memory"));
  EXPECT_THAT(failure_of_kernel(leave_for_next_block<true>, 2), IsEmpty());
}

/// Uses a pointer, so that the compiler cannot see the error.
template <unsigned distance>
void read_shared_at(const float* from, float* to) {
  BENCH_SHARED(float, values[kLanes]);
  const float* const place = values;
  values[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  to[threadIdx.x] = place[threadIdx.x + distance];
}

TEST_F(RepetitionTest, NoLaneReadsPastSharedMemory) {
  EXPECT_THAT(failure_of_kernel(read_shared_at<1>), says("depends on uninitialized shared memory"));
  EXPECT_THAT(failure_of_kernel(read_shared_at<0>), IsEmpty());
}

template <int distance>
void read_at(const float* from, float* to) {
  to[threadIdx.x] = from[static_cast<int>(threadIdx.x) + distance];
}

TEST_F(RepetitionTest, NoKernelReadsOutsideAnAllocation) {
  const auto failure = [](Kernel kernel) {
    // Not a multiple of the alignment, so that bytes remain after the last element.
    const OnDevice<float> from(ascending(kLanes - 1));
    const OnDevice<float> to(kLanes - 1);
    return repeated_failure_of([&] {
      launch(nullptr, {"planted", 1, kLanes - 1}, kernel, from.data(), to.data());
    });
  };
  EXPECT_THAT(failure(read_at<1>), says("depends on bytes next to an allocation"));
  EXPECT_THAT(failure(read_at<-1>), says("depends on bytes next to an allocation"));
  EXPECT_THAT(failure(read_at<0>), IsEmpty());
}

void add_one(float* memory) { memory[threadIdx.x] += 1; }

TEST_F(RepetitionTest, AKernelThatRunsAgainHasRunOnce) {
  const OnDevice<float> memory(ascending(kLanes));
  set_repetition(true);
  launch(nullptr, {"add_one", 1, kLanes}, add_one, memory.data());
  const std::vector<float> values = memory.values();
  for (std::size_t index = 0; index < values.size(); ++index) {
    EXPECT_EQ(values[index], static_cast<float>(index) + 1);
  }
}

TEST_F(RepetitionTest, AFaultDoesNotAffectLaterKernels) {
  EXPECT_THAT(failure_of_kernel(sum_shared<false>), testing::Not(IsEmpty()));
  const OnDevice<float> from(ascending(kLanes - 1));
  const OnDevice<float> to(kLanes - 1);
  const auto run = [&](Kernel kernel) {
    launch(nullptr, {"planted", 1, kLanes - 1}, kernel, from.data(), to.data());
  };
  EXPECT_THAT(repeated_failure_of([&] { run(read_at<1>); }), testing::Not(IsEmpty()));
  EXPECT_THAT(failure_of([&] { run(read_at<0>); }), IsEmpty());
  EXPECT_THAT(repeated_failure_of([&] { run(read_at<0>); }), IsEmpty());
}

}  // namespace
}  // namespace bench::cuda::emulator
