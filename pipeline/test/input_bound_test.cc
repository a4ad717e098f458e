#include "pipeline/input_bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using std::chrono::milliseconds;
using testing::EndsWith;
using testing::HasSubstr;

/// Ten seconds in which two threads prepared 1,000 images and worked all the time, mostly on JPEGs.
/// The device waited for eight seconds.
InputInterval busy_interval() {
  InputStatistics done{.images_delivered = 1000,
                       .images_prepared = 1000,
                       .parse_busy = milliseconds(1000),
                       .decode_busy = milliseconds(16000),
                       .resize_busy = milliseconds(3000),
                       .record_bytes = 100'000'000,
                       .threads = 2};
  done.reading = {
      .work = milliseconds(500), .processor = milliseconds(400), .waited = milliseconds(9500)};
  done.preparing = {.work = milliseconds(20000), .processor = milliseconds(20000)};
  return {.done = done,
          .images = 1000,
          .wall = milliseconds(10000),
          .waited = milliseconds(8000),
          .processors = 16};
}

/// The preparing threads and the device wait for the reading thread.
InputInterval slow_reading() {
  InputInterval interval = busy_interval();
  interval.done.reading = {.work = milliseconds(10000), .processor = milliseconds(9500)};
  interval.done.preparing = {
      .work = milliseconds(4000), .processor = milliseconds(4000), .waited = milliseconds(16000)};
  return interval;
}

InputBound bound_of(const InputInterval& interval) { return judge_input(interval).bound; }
std::string sentence_of(const InputInterval& interval) {
  return describe(judge_input(interval), interval);
}

TEST(InputBound, IsTheLongestStageIfThePreparingThreadsAlwaysWork) {
  InputInterval interval = busy_interval();
  EXPECT_EQ(bound_of(interval), InputBound::decode);
  std::swap(interval.done.decode_busy, interval.done.resize_busy);
  EXPECT_EQ(bound_of(interval), InputBound::resize);
  std::swap(interval.done.parse_busy, interval.done.resize_busy);
  EXPECT_EQ(bound_of(interval), InputBound::parse);
}

TEST(InputBound, IsTheDeviceIfItHardlyWaits) {
  InputInterval interval = busy_interval();
  interval.waited = milliseconds(499);
  EXPECT_EQ(bound_of(interval), InputBound::device);
  interval.waited = milliseconds(501);
  EXPECT_EQ(bound_of(interval), InputBound::decode);
}

TEST(InputBound, IsTheCopiesIfTheDeviceIdlesMeanwhile) {
  InputInterval interval = busy_interval();
  interval.waited = milliseconds(100);
  interval.computed = milliseconds(4000);
  interval.copied = milliseconds(9500);
  interval.copied_bytes = 602'112'000;
  interval.sends_floats = true;
  EXPECT_EQ(bound_of(interval), InputBound::copy);
  EXPECT_EQ(sentence_of(interval),
            "copying images to the device (63 MB/s) limits this run to 100 images/sec; without it, "
            "the device would process 250 (+150 %); --input_transfer=uint8 sends a quarter of the "
            "bytes");
  interval.computed = milliseconds(9500);
  EXPECT_EQ(bound_of(interval), InputBound::device) << "it does not idle";
  interval.computed = milliseconds(4000);
  interval.copied = milliseconds(2000);
  EXPECT_EQ(bound_of(interval), InputBound::device) << "something else holds it up";
  interval.waited = milliseconds(5900);
  EXPECT_EQ(bound_of(interval), InputBound::decode);
}

TEST(InputBound, IsReadingOrTheStorageIfThePreparingThreadsWaitForRecords) {
  InputInterval interval = slow_reading();
  EXPECT_EQ(bound_of(interval), InputBound::reading);
  interval.done.reading.processor = milliseconds(500);
  EXPECT_EQ(bound_of(interval), InputBound::storage);
}

TEST(InputBound, IsTheProcessorsIfReadyThreadsGetNone) {
  InputInterval interval = busy_interval();
  interval.done.preparing.processor = milliseconds(12000);
  interval.done.preparing.delayed = milliseconds(8000);
  EXPECT_EQ(bound_of(interval), InputBound::processors);
  EXPECT_THAT(sentence_of(interval), HasSubstr("other programs used the processors"));
  interval.processors = 1;
  EXPECT_EQ(bound_of(interval), InputBound::decode) << "the input itself has the processor";
  interval = slow_reading();
  interval.done.reading.processor = milliseconds(4000);
  interval.done.reading.delayed = milliseconds(5000);
  EXPECT_EQ(bound_of(interval), InputBound::processors);
  interval.done.reading.processor = milliseconds(9000);
  EXPECT_EQ(bound_of(interval), InputBound::reading) << "most delays were after waits";
}

TEST(InputBound, IsTheProcessorsIfTheInputTakesThemFromTheDevice) {
  InputInterval interval = busy_interval();
  interval.waited = milliseconds(100);
  EXPECT_EQ(bound_of(interval), InputBound::device);
  interval.shares_processors = true;
  EXPECT_EQ(bound_of(interval), InputBound::processors) << "it uses 2 of 16";
  EXPECT_THAT(
      sentence_of(interval),
      HasSubstr("input and device share 16 processors; the input used 2.0 of them, mostly for "
                "decoding JPEGs; this limits the run to 100 images/sec; without the input, "
                "the device could process up to "));
  interval.processors = 32;
  EXPECT_EQ(bound_of(interval), InputBound::device);
}

TEST(InputBound, IsUnclearIfTheDeviceWaitsForThreadsThatWait) {
  InputInterval interval = slow_reading();
  interval.done.reading = {.work = milliseconds(3000), .waited = milliseconds(7000)};
  EXPECT_EQ(bound_of(interval), InputBound::unclear);
  interval.done.preparing.delayed = milliseconds(4000);
  EXPECT_EQ(bound_of(interval), InputBound::processors) << "they wake up late";
}

TEST(InputVerdict, HasTheSpeedsOfTheRunTheDeviceAndTheInput) {
  const InputVerdict verdict = judge_input(busy_interval());
  EXPECT_DOUBLE_EQ(verdict.images_per_second, 100);
  EXPECT_DOUBLE_EQ(verdict.device_images_per_second, 500);
  EXPECT_DOUBLE_EQ(verdict.input_images_per_second, 100);
  EXPECT_DOUBLE_EQ(verdict.processors_used, 2.04);
  EXPECT_DOUBLE_EQ(verdict.processors_needed, 10);
}

TEST(InputVerdict, DoesNotBlameTheDeviceForTheInputsUseOfItsProcessors) {
  InputInterval interval = busy_interval();
  interval.shares_processors = true;
  interval.device_threads = 2;
  interval.waited = milliseconds(5000);
  interval.done.process = milliseconds(20400 + 4000);
  EXPECT_DOUBLE_EQ(judge_input(interval).device_images_per_second, 500) << "2 of 5 s on processors";
  interval.done.process = milliseconds(20400 + 16000);
  EXPECT_DOUBLE_EQ(judge_input(interval).device_images_per_second, 200) << "no more than the time";
  interval.done.preparing.processor = milliseconds(1600);
  interval.done.process = milliseconds(2000 + 6000);
  EXPECT_DOUBLE_EQ(judge_input(interval).device_images_per_second, 250)
      << "the input took 2 of the 10 s of both threads; the device left others unused";
  interval.shares_processors = false;
  EXPECT_DOUBLE_EQ(judge_input(interval).device_images_per_second, 200);
}

TEST(InputVerdict, IsDescribedWithItsRemedy) {
  EXPECT_EQ(sentence_of(busy_interval()),
            "decoding JPEGs (80 % of the work of 2 threads) limits this run to 100 images/sec; "
            "without it, the device would process 500 (+400 %); "
            "--datasets_num_private_threads=10 would suffice; seekable JPEGs decode faster "
            "(make_tfrecords --seekable)");
  InputInterval interval = busy_interval();
  interval.done.seekable_images = 900;
  EXPECT_THAT(sentence_of(interval), EndsWith("--datasets_num_private_threads=10 would suffice"));
  interval.done.seekable_images = 0;
  interval.crops_first = false;
  EXPECT_THAT(sentence_of(interval), EndsWith("--datasets_num_private_threads=10 would suffice"));
  interval.processors = 2;
  EXPECT_THAT(sentence_of(interval),
              HasSubstr("that needs about 10 processors, and this process may use 2"));
  InputInterval without_threads = interval;
  without_threads.done = {};
  EXPECT_EQ(sentence_of(without_threads),
            "the device waited 80 % of the time for batches, which are prepared without separate "
            "threads");
  interval.waited = milliseconds(0);
  EXPECT_EQ(sentence_of(interval),
            "the device is the limit: it processes 100 images/sec, and 2 threads can prepare 100");
  interval.done = {.threads = 2};
  EXPECT_EQ(sentence_of(interval), "the device is the limit: it processes 100 images/sec");
  interval = busy_interval();
  interval.waited = milliseconds(1000);
  interval.done.threads = 4;
  interval.done.preparing.work = milliseconds(36000);
  EXPECT_THAT(sentence_of(interval),
              HasSubstr("that needs about 3 processors, and this process may use 16"))
      << "more threads than that work already";
  interval = slow_reading();
  EXPECT_THAT(sentence_of(interval), HasSubstr("the reading thread is busy 100 % of the time"));
  interval.done.reading.processor = milliseconds(500);
  EXPECT_THAT(sentence_of(interval), HasSubstr("the storage delivers 10 MB/s and limits this run"));
}

TEST(InputBound, IsTheQuotaIfThatStopsTheProcess) {
  InputInterval interval{.done = {}, .images = 100, .wall = milliseconds(10000), .processors = 4};
  interval.throttled = milliseconds(3900);
  EXPECT_NE(judge_input(interval).bound, InputBound::quota);
  interval.throttled = milliseconds(10000);
  EXPECT_EQ(judge_input(interval).bound, InputBound::quota);
  EXPECT_EQ(describe(judge_input(interval), interval),
            "the cgroup's CPU quota throttled this process for 25 % of the time of 4 "
            "processors; this limits the run to 10.0 images/sec; raise the quota");
}

}  // namespace
}  // namespace bench
