// Barriers, shuffles and votes that lanes reach or miss, and the limits of a block.

#include "kernels/cuda/gpu/element.h"
#include "kernels/gpu_emulator/test/emulated_test.h"

namespace bench::cuda::emulator {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// A kernel's failure in each order of lanes, run by one block on memory of 64 zeros.
class BlockTest : public EmulatedTest {
 protected:
  using Kernel = void (*)(float*);
  static constexpr unsigned kLanes = 64;

  static std::vector<std::string> failures_of(Kernel kernel, const dim3& block = kLanes) {
    std::vector<std::string> failures;
    for (const std::uint64_t order : kLaneOrders) {
      set_lane_order(order);
      const OnDevice<float> memory(std::vector<float>(std::size_t{kLanes}));
      failures.push_back(failure_of([&] {
        launch(nullptr, {"planted", dim3(), block}, kernel, memory.data());
      }));
    }
    return failures;
  }
};

/// Each of several texts.
template <class Matcher>
auto all(const Matcher& matcher) {
  return testing::Each(AllOf(HasSubstr("kernel planted, block (0, 0, 0), lane "), matcher));
}
const auto kNone = testing::Each(IsEmpty());

template <unsigned lanes_that_come>
void meet_in_part(float* memory) {
  if (threadIdx.x < lanes_that_come) {
    __syncthreads();
  }
  memory[threadIdx.x] = 1;
}

TEST_F(BlockTest, ABarrierNeedsAllLanes) {
  EXPECT_THAT(
      failures_of(meet_in_part<48>),
      all(AllOf(HasSubstr("block_test.cc:"),
                HasSubstr("__syncthreads waits forever for all lanes: lane 48 has returned"))));
  EXPECT_THAT(failures_of(meet_in_part<64>), kNone);
}

template <bool same>
void meet_at_two_places(float* memory) {
  if (same || threadIdx.x < 32) {
    __syncthreads();
    memory[threadIdx.x] = 1;
  } else {
    memory[threadIdx.x] = 2;
    __syncthreads();
  }
}

TEST_F(BlockTest, AllLanesReachTheSameBarrier) {
  EXPECT_THAT(failures_of(meet_at_two_places<false>),
              all(HasSubstr("all lanes must reach the same barrier")));
  EXPECT_THAT(failures_of(meet_at_two_places<true>), kNone);
}

template <unsigned mask>
void shuffle_within(float* memory) {
  const float value = memory[threadIdx.x];
  memory[threadIdx.x] = __shfl_xor_sync(mask, value, 1);
}

TEST_F(BlockTest, AShufflesMaskHoldsTheLaneItself) {
  EXPECT_THAT(failures_of(shuffle_within<0x0000FFFFU>),
              all(AllOf(HasSubstr("block_test.cc:"),
                        HasSubstr("the mask 0xffff does not include the calling lane"))));
  EXPECT_THAT(failures_of(shuffle_within<0xFFFFFFFFU>), kNone);
}

template <unsigned distance>
void shuffle_from_below(float* memory) {
  if (threadIdx.x % 32 < 16) {
    memory[threadIdx.x] = __shfl_xor_sync(0xFFFFU, memory[threadIdx.x], distance);
  }
}

TEST_F(BlockTest, AShuffleReadsOnlyLanesOfItsMask) {
  EXPECT_THAT(failures_of(shuffle_from_below<16>),
              all(AllOf(HasSubstr("the mask 0xffff does not include lane "),
                        HasSubstr("which the shuffle reads"))));
  EXPECT_THAT(failures_of(shuffle_from_below<8>), kNone);
}

template <unsigned lanes_that_come>
void shuffle_with_absent_lanes(float* memory) {
  if (threadIdx.x % 32 < lanes_that_come) {
    memory[threadIdx.x] = __shfl_down_sync(0xFFFFFFFFU, memory[threadIdx.x], 16);
  }
}

TEST_F(BlockTest, AShuffleReadsNoLaneThatHasReturned) {
  EXPECT_THAT(failures_of(shuffle_with_absent_lanes<16>),
              all(AllOf(HasSubstr("waits forever for the lanes of mask 0xffffffff: lane "),
                        HasSubstr("has returned"))));
  EXPECT_THAT(failures_of(shuffle_with_absent_lanes<32>), kNone);
}

void shuffle_of_a_warp(float* memory) {
  memory[threadIdx.x] = __shfl_down_sync(0xFFFFFFFFU, memory[threadIdx.x], 1);
}

TEST_F(BlockTest, AMaskHoldsOnlyLanesOfTheBlock) {
  EXPECT_THAT(failures_of(shuffle_of_a_warp, 52),
              all(HasSubstr("the mask 0xffffffff includes lanes that the block does not have: the "
                            "warp has 20 lanes")));
  EXPECT_THAT(failures_of(shuffle_of_a_warp, 64), kNone);
}

template <bool of_lane>
void vote_with_masks(float* memory) {
  const unsigned lower = of_lane && threadIdx.x % 2 == 0 ? 0x7FFFFFFFU : 0xFFFFFFFFU;
  memory[threadIdx.x] = __any_sync(lower, 1) != 0 ? 1.0F : 0.0F;
}

TEST_F(BlockTest, LanesThatVoteAgreeOnTheirMask) {
  EXPECT_THAT(
      failures_of(vote_with_masks<true>),
      all(AllOf(HasSubstr("waits forever for the lanes of mask 0x"), HasSubstr(": lane "))));
  EXPECT_THAT(failures_of(vote_with_masks<false>), kNone);
}

template <bool with_warp>
void vote_between_barriers(float* memory) {
  if (!with_warp && threadIdx.x == 3) {
    __syncthreads();
  } else {
    __ballot_sync(0xFFFFFFFFU, 1);
    __syncthreads();
  }
  memory[threadIdx.x] = 1;
}

TEST_F(BlockTest, AWarpDetectsALaneWaitingAtTheBarrier) {
  EXPECT_THAT(failures_of(vote_between_barriers<false>),
              all(testing::AnyOf(HasSubstr(": lane 3 waits in __syncthreads"),
                                 HasSubstr("all lanes must reach the same barrier"))));
  EXPECT_THAT(failures_of(vote_between_barriers<true>), kNone);
}

template <int width>
void shuffle_in_groups(float* memory) {
  memory[threadIdx.x] = __shfl_sync(0xFFFFFFFFU, memory[threadIdx.x], 0, width);
}

TEST_F(BlockTest, GroupsOfAShuffleAreAPowerOfTwo) {
  EXPECT_THAT(failures_of(shuffle_in_groups<12>), all(HasSubstr("groups of 12 lanes")));
  EXPECT_THAT(failures_of(shuffle_in_groups<8>), kNone);
}

template <int offset>
void load_packs(float* memory) {
  if (threadIdx.x == 0) {
    store_pack(memory, load_pack<4>(memory + offset));
  }
}

TEST_F(BlockTest, APackIsAligned) {
  EXPECT_THAT(
      failures_of(load_packs<5>),
      all(AllOf(HasSubstr("element.h:"),
                HasSubstr("misaligned access of 16 bytes, 4 bytes past an aligned address"))));
  EXPECT_THAT(failures_of(load_packs<4>), kNone);
}

/// Uses a pointer, so that the compiler cannot see the error.
template <int first, int elements>
void write_shared(float* memory) {
  BENCH_SHARED(float, values[elements]);
  float* const place = values;
  place[static_cast<int>(memory[threadIdx.x]) + first + static_cast<int>(threadIdx.x)] = 1;
}

TEST_F(BlockTest, NoLaneWritesPastSharedMemory) {
  const auto says = [](const char* text) {
    return testing::Each(AllOf(HasSubstr("kernel planted, block (0, 0, 0): "),
                               HasSubstr("block_test.cc:"), HasSubstr(text)));
  };
  EXPECT_THAT((failures_of(write_shared<1, 64>)),
              says("a lane wrote 0 bytes past the end of this shared memory"));
  EXPECT_THAT((failures_of(write_shared<32, 64>)),
              says("bytes past the end of this shared memory"));
  EXPECT_THAT((failures_of(write_shared<0, 64>)), kNone);
}

TEST_F(BlockTest, ABlockHas48KibOfSharedMemory) {
  constexpr int kMost = (48 << 10) / sizeof(float);
  EXPECT_THAT((failures_of(write_shared<0, kMost + 1>)),
              all(HasSubstr("49156 bytes of shared memory, but has 49152")));
  EXPECT_THAT((failures_of(write_shared<0, kMost>)), kNone);
}

void do_nothing(float* /*memory*/) {}

TEST_F(BlockTest, ABlockHasAtMost1024Lanes) {
  const auto refusal = [](const dim3& grid, const dim3& block) {
    const OnDevice<float> memory(1);
    return failure_of([&] {
      launch(nullptr, {"planted", grid, block}, do_nothing, memory.data());
    });
  };
  EXPECT_THAT(
      refusal(1, dim3(32, 33)),
      HasSubstr("kernel planted: the block has 32 x 33 x 1 lanes; accepted: 1 to 1024 lanes"));
  EXPECT_THAT(refusal(1, 0), HasSubstr("the block has 0 x 1 x 1 lanes"));
  EXPECT_THAT(refusal(1, dim3(1, 1, 65)), HasSubstr("the block has 1 x 1 x 65 lanes"));
  EXPECT_THAT(refusal(1, dim3(32, 32)), IsEmpty());
  EXPECT_THAT(refusal(0, 1), HasSubstr("kernel planted: the grid of 0 x 1 x 1 blocks is empty"));
  EXPECT_THAT(refusal(dim3(1, 65536), 1), HasSubstr("the grid has 1 x 65536 x 1 blocks"));
  EXPECT_THAT(refusal(dim3(2, 3), 1), IsEmpty());
}

}  // namespace
}  // namespace bench::cuda::emulator
