// Host code in a wrong order: streams, events, copies, and errors that it does not check. Where
// CUDA reports no error, a result is wrong under some schedule.

#include <thread>

#include "kernels/gpu_emulator/test/scenario.h"

namespace bench::cuda::emulator {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class RuntimeTest : public ScenarioTest {};

enum class Recorded : std::uint8_t { never, late, in_time };

/// One stream reads what another one writes.
template <Recorded recorded>
Values hand_over() {
  const OnDevice<float> from(all_of(1));
  const OnDevice<float> between(all_of(0));
  const OnDevice<float> to(all_of(0));
  const Stream producer;
  const Stream consumer;
  const Event written;
  if (recorded == Recorded::late) {
    require(cudaStreamWaitEvent(consumer, written));
  }
  launch_add(producer, from.data(), between.data(), 1);
  if (recorded != Recorded::never) {
    require(cudaEventRecord(written, producer));
  }
  if (recorded == Recorded::in_time) {
    require(cudaStreamWaitEvent(consumer, written));
  }
  launch_add(consumer, between.data(), to.data(), 1);
  require(cudaStreamSynchronize(consumer));
  return to.values_now();
}

TEST_F(RuntimeTest, StreamsNeedAnEventBetweenThem) {
  expect_caught(all_of(3), hand_over<Recorded::never>, hand_over<Recorded::in_time>);
}

TEST_F(RuntimeTest, AnEventIsRecordedBeforeItIsWaitedFor) {
  expect_caught(all_of(3), hand_over<Recorded::late>, hand_over<Recorded::in_time>);
}

/// A new recording of an event replaces the old one.
template <bool before_the_work>
Values hand_over_by_an_old_event() {
  const OnDevice<float> from(all_of(1));
  const OnDevice<float> between(all_of(0));
  const OnDevice<float> to(all_of(0));
  const Stream producer;
  const Stream consumer;
  const Event written;
  if (before_the_work) {
    require(cudaEventRecord(written, producer));
  }
  launch_add(producer, from.data(), between.data(), 1);
  if (!before_the_work) {
    require(cudaEventRecord(written, producer));
  }
  require(cudaStreamWaitEvent(consumer, written));
  launch_add(consumer, between.data(), to.data(), 1);
  require(cudaStreamSynchronize(consumer));
  return to.values_now();
}

TEST_F(RuntimeTest, AnEventCoversOnlyEarlierWork) {
  expect_caught(all_of(3), hand_over_by_an_old_event<true>, hand_over_by_an_old_event<false>);
}

/// Two batches go through one host slot.
template <class Slot, bool waits>
Values reuse_slot(Slot& slot) {
  const OnDevice<float> first(all_of(0));
  const OnDevice<float> second(all_of(0));
  const Stream stream;
  const Event copied;
  std::fill_n(&slot[0], kCount, 1.0F);
  copy(stream, &slot[0], first.data());
  require(cudaEventRecord(copied, stream));
  if (waits) {
    require(cudaEventSynchronize(copied));
  }
  std::fill_n(&slot[0], kCount, 2.0F);
  copy(stream, &slot[0], second.data());
  require(cudaStreamSynchronize(stream));
  return first.values_now();
}

template <bool waits>
Values reuse_pinned_slot() {
  const Pinned<float> slot(all_of(0));
  return reuse_slot<const Pinned<float>, waits>(slot);
}

Values reuse_pageable_slot() {
  Values slot = all_of(0);
  return reuse_slot<Values, false>(slot);
}

TEST_F(RuntimeTest, AHostsSlotIsReusedWhenItIsCopied) {
  expect_caught(all_of(1), reuse_pinned_slot<false>, reuse_pinned_slot<true>);
}

TEST_F(RuntimeTest, OnlyPageableMemoryMayChangeAfterTheCall) {
  expect_caught(all_of(1), reuse_pinned_slot<false>, reuse_pageable_slot);
}

/// One stream copies batches to a device slot, and another one computes with it.
template <bool waits>
Values reuse_device_slot() {
  const Pinned<float> first(all_of(1));
  const Pinned<float> second(all_of(2));
  const OnDevice<float> slot(all_of(0));
  const OnDevice<float> to(all_of(0));
  const Stream copies;
  const Stream computes;
  const Event copied;
  const Event computed;
  copy(copies, first.data(), slot.data());
  require(cudaEventRecord(copied, copies));
  require(cudaStreamWaitEvent(computes, copied));
  launch_add(computes, slot.data(), to.data(), 0);
  require(cudaEventRecord(computed, computes));
  if (waits) {
    require(cudaStreamWaitEvent(copies, computed));
  }
  copy(copies, second.data(), slot.data());
  require(cudaStreamSynchronize(copies));
  require(cudaStreamSynchronize(computes));
  return to.values_now();
}

TEST_F(RuntimeTest, ADevicesSlotIsReusedWhenItIsRead) {
  expect_caught(all_of(1), reuse_device_slot<false>, reuse_device_slot<true>);
}

enum class Waits : std::uint8_t { never, for_stream, for_event, by_asking, frees };

/// The host reads a result.
template <Waits waits>
Values read_result() {
  const OnDevice<float> from(all_of(1));
  OnDevice<float> between(all_of(0));
  const Pinned<float> result(all_of(0));
  const Stream stream;
  const Event copied;
  launch_add(stream, from.data(), between.data(), 1);
  copy(stream, between.data(), result.data());
  require(cudaEventRecord(copied, stream));
  switch (waits) {
    case Waits::never:
      break;
    case Waits::for_stream:
      require(cudaStreamSynchronize(stream));
      break;
    case Waits::for_event:
      require(cudaEventSynchronize(copied));
      break;
    case Waits::by_asking:
      while (asked(cudaEventQuery(copied)) == cudaErrorNotReady) {
      }
      break;
    case Waits::frees:
      between.free();
      break;
  }
  return {&result[0], &result[0] + kCount};
}

TEST_F(RuntimeTest, TheHostWaitsBeforeItReads) {
  expect_caught(all_of(2), read_result<Waits::never>, read_result<Waits::for_stream>);
  expect_caught(all_of(2), read_result<Waits::never>, read_result<Waits::for_event>);
  expect_caught(all_of(2), read_result<Waits::never>, read_result<Waits::by_asking>);
}

TEST_F(RuntimeTest, FreeingMemoryWaitsForItsUsers) {
  expect_caught(all_of(2), read_result<Waits::never>, read_result<Waits::frees>);
}

/// The null stream fills what another stream reads.
template <unsigned flags, bool waits>
Values fill_on_null_stream() {
  const OnDevice<float> memory(all_of(1));
  const OnDevice<float> to(all_of(0));
  cudaStream_t stream = nullptr;
  require(cudaStreamCreateWithFlags(&stream, flags));
  require(cudaMemset(memory.data(), 0, kBytes));
  if (waits) {
    require(cudaStreamSynchronize(nullptr));
  }
  launch_add(stream, memory.data(), to.data(), 1);
  require(cudaStreamSynchronize(stream));
  Values values = to.values_now();
  require(cudaStreamDestroy(stream));
  return values;
}

TEST_F(RuntimeTest, OnlyBlockingStreamsKeepOrderWithTheNullStream) {
  expect_caught(all_of(1), fill_on_null_stream<cudaStreamNonBlocking, false>,
                fill_on_null_stream<cudaStreamDefault, false>);
  expect_caught(all_of(1), fill_on_null_stream<cudaStreamNonBlocking, false>,
                fill_on_null_stream<cudaStreamNonBlocking, true>);
}

/// A cudaMemcpy from pageable memory, whose last step may run after the call returns.
template <bool waits>
Values compute_behind_upload() {
  const OnDevice<float> memory(all_of(0));
  const OnDevice<float> to(all_of(0));
  const Stream stream;
  const Values host = all_of(1);
  require(cudaMemcpy(memory.data(), host.data(), kBytes, cudaMemcpyHostToDevice));
  if (waits) {
    require(cudaStreamSynchronize(nullptr));
  }
  launch_add(stream, memory.data(), to.data(), 1);
  require(cudaStreamSynchronize(stream));
  return to.values_now();
}

TEST_F(RuntimeTest, AnUploadOfPageableMemoryIsWaitedForByOtherStreams) {
  expect_caught(all_of(2), compute_behind_upload<false>, compute_behind_upload<true>);
}

/// The result of one stream is read after another one has ended.
template <bool the_other>
Values wait_for_a_stream() {
  const OnDevice<float> from(all_of(1));
  const OnDevice<float> to(all_of(0));
  const Stream computes;
  const Stream other;
  launch_add(computes, from.data(), to.data(), 1);
  require(cudaStreamSynchronize(the_other ? other : computes));
  return to.values_now();
}

TEST_F(RuntimeTest, WaitingForAStreamDoesNotWaitForOthers) {
  expect_caught(all_of(2), wait_for_a_stream<true>, wait_for_a_stream<false>);
}

/// A stream with remaining work is destroyed; the work still completes.
template <bool waits>
Values destroy_stream_early() {
  const OnDevice<float> from(all_of(1));
  const OnDevice<float> to(all_of(0));
  cudaStream_t stream = nullptr;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  launch_add(stream, from.data(), to.data(), 1);
  require(cudaStreamDestroy(stream));
  if (waits) {
    require(cudaDeviceSynchronize());
  }
  return to.values_now();
}

TEST_F(RuntimeTest, DestroyingAStreamDoesNotWaitForIt) {
  expect_caught(all_of(2), destroy_stream_early<false>, destroy_stream_early<true>);
}

TEST_F(RuntimeTest, DestroyedHandlesAreRefused) {
  const OnDevice<float> memory(all_of(1));
  cudaStream_t stream = nullptr;
  require(cudaStreamCreate(&stream));
  cudaEvent_t event = nullptr;
  require(cudaEventCreate(&event));
  const auto use_stream = [&] {
    return failure_of([&] { launch_add(stream, memory.data(), memory.data(), 1); });
  };
  const auto use_event = [&] { return refusal_of(cudaEventRecord(event, nullptr)); };
  EXPECT_THAT(use_stream(), IsEmpty());
  EXPECT_THAT(use_event(), IsEmpty());
  require(cudaStreamDestroy(stream));
  require(cudaEventDestroy(event));
  EXPECT_THAT(use_stream(), HasSubstr("add: invalid resource handle"));
  EXPECT_THAT(use_event(), HasSubstr("invalid resource handle"));
  EXPECT_EQ(asked(cudaStreamDestroy(stream)), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(asked(cudaEventDestroy(event)), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(asked(cudaStreamSynchronize(stream)), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(asked(cudaEventSynchronize(event)), cudaErrorInvalidResourceHandle);
}

TEST_F(RuntimeTest, AnUncheckedErrorIsReportedAtTheNextLaunch) {
  const OnDevice<float> memory(all_of(1));
  const auto go_on = [&](bool asks) {
    return failure_of([&] {
      static_cast<void>(cudaMemset(memory.data(), 0, kBytes + 1));
      if (asks) {
        EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
      }
      launch_add(nullptr, memory.data(), memory.data(), 1);
    });
  };
  EXPECT_THAT(go_on(false), HasSubstr("add: invalid argument"));
  EXPECT_THAT(go_on(true), IsEmpty());
}

void miss_a_barrier(float* memory) {
  if (threadIdx.x == 0) {
    __syncthreads();
  }
  memory[threadIdx.x] = 1;
}

TEST_F(RuntimeTest, EveryLaterCallReportsAKernelsFault) {
  const OnDevice<float> memory(all_of(1));
  launch(nullptr, {"planted", 1, kCount}, miss_a_barrier, memory.data());
  EXPECT_EQ(asked(cudaDeviceSynchronize()), cudaErrorLaunchFailure);
  for (int call = 0; call < 2; ++call) {
    EXPECT_THAT(refusal_of(cudaMemset(memory.data(), 0, kBytes)),
                HasSubstr("kernel planted, block (0, 0, 0), lane 0"));
  }
  reset_device();
  EXPECT_THAT(refusal_of(cudaMemset(memory.data(), 0, kBytes)), IsEmpty());
}

TEST_F(RuntimeTest, TimeIsTakenBetweenEventsThatHaveCome) {
  const OnDevice<float> memory(all_of(1));
  const Event start;
  const Event end;
  cudaEvent_t untimed = nullptr;
  require(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  float milliseconds = -1;
  EXPECT_EQ(asked(cudaEventElapsedTime(&milliseconds, start, end)), cudaErrorInvalidResourceHandle)
      << "not recorded";
  require(cudaEventRecord(start, nullptr));
  launch_add(nullptr, memory.data(), memory.data(), 1);
  require(cudaEventRecord(end, nullptr));
  require(cudaEventRecord(untimed, nullptr));
  EXPECT_EQ(asked(cudaEventElapsedTime(&milliseconds, start, end)), cudaErrorNotReady);
  require(cudaDeviceSynchronize());
  EXPECT_EQ(asked(cudaEventElapsedTime(&milliseconds, start, untimed)),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
  require(cudaEventDestroy(untimed));
}

TEST_F(RuntimeTest, WorkIsRetriedUntilAnotherStreamArrives) {
  for (const std::uint64_t seed : kSchedules) {
    set_schedule(seed);
    const Stream first;
    const Stream second;
    int come = 0;
    int met = 0;
    const auto enter = [&](cudaStream_t stream) {
      const auto ready = [&come, here = false]() mutable {
        come += here ? 0 : 1;
        here = true;
        return come == 2;
      };
      require(enqueue_when(ready, stream, "barrier", [&met] { ++met; }));
    };
    enter(first);
    EXPECT_EQ(asked(cudaStreamQuery(first)), cudaErrorNotReady) << seed;
    // Runs on another thread, while this one waits.
    std::thread other([&] {
      enter(second);
      require(cudaStreamSynchronize(second));
    });
    require(cudaStreamSynchronize(first));
    other.join();
    EXPECT_EQ(met, 2) << seed;
  }
}

TEST_F(RuntimeTest, WorkOfTheDeviceMayNotCallTheRuntime) {
  const auto run = [&](bool calls) {
    return failure_of([&] {
      require(enqueue(nullptr, "planted", [calls] {
        if (calls) {
          require(cudaDeviceSynchronize());
        }
      }));
    });
  };
  EXPECT_THAT(run(true), testing::AllOf(HasSubstr("planted: "),
                                        HasSubstr("work on the device called the runtime")));
  EXPECT_THAT(run(false), IsEmpty());
}

}  // namespace
}  // namespace bench::cuda::emulator
