#include "results/environment/gpu_watches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "results/environment/test/fake_clock.h"
#include "results/environment/test/fake_nvml.h"

namespace bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Ne;
using ::testing::SizeIs;

/// The result of a tally with this number of samples, spread over `window`.
results::GpuWatched tallied(const FakeNvmlLibrary& fake, nanoseconds window, int samples = 10) {
  const GpuSensors sensors(kFakeBus, fake.path);
  FakeClock clock;
  GpuTally tally(sensors, clock);
  tally.begin();
  for (int i = 1; i < samples; ++i) {
    clock.advance(window / (samples - 1));
    tally.sample();
  }
  tally.end();
  return tally.result();
}

TEST(GpuTally, KeepsMeanAndLimitsOfWhatItSamples) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  fake->answers["nvmlDeviceGetClockInfo:1"] = {1500, 1700, 1900};
  fake->answers["nvmlDeviceGetPowerUsage"] = {400'000, 500'000, 600'000};
  fake->answers["nvmlDeviceGetTemperature"] = {50, 70, 60};
  fake->answers["nvmlDeviceGetUtilizationRates"] = {0, 100, 50};
  const results::GpuWatched watched = tallied(fake, seconds(2), 3);
  EXPECT_EQ(watched.samples, 3);
  EXPECT_EQ(watched.window, seconds(2));
  EXPECT_DOUBLE_EQ(watched.sm_mhz.value().mean, 1700);
  EXPECT_DOUBLE_EQ(watched.sm_mhz.value().min, 1500);
  EXPECT_DOUBLE_EQ(watched.sm_mhz.value().max, 1900);
  EXPECT_DOUBLE_EQ(watched.watts.value().mean, 500);
  EXPECT_DOUBLE_EQ(watched.celsius.value().max, 70);
  EXPECT_DOUBLE_EQ(watched.utilization.value().mean, 0.5);
}

TEST(GpuTally, JoinsTheClockEventsOfAllSamples) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  fake->answers["nvmlDeviceGetCurrentClocksEventReasons"] = {0x4, 0x20, 0x48, 0};
  const results::ClockEvents events = tallied(fake, seconds(1), 4).clock_events.value();
  EXPECT_EQ(events.seen(), 0x6CU);
  EXPECT_DOUBLE_EQ(events.share(0x60), 0.5);
  EXPECT_DOUBLE_EQ(events.share(0x8, 0x40), 0);
}

TEST(GpuTally, TakesTheDifferenceOfCounters) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  fake->answers["nvmlDeviceGetViolationStatus:0"] = {1'000, 51'000};
  fake->answers["nvmlDeviceGetViolationStatus:1"] = {7, 7};
  fake->answers["nvmlDeviceGetTotalEccErrors:0"] = {3, 5};
  fake->answers["nvmlDeviceGetTotalEccErrors:1"] = {9, 8};
  const results::GpuWatched watched = tallied(fake, seconds(1));
  EXPECT_EQ(watched.power_violation.value(), nanoseconds(50'000));
  EXPECT_EQ(watched.thermal_violation.value(), nanoseconds(0));
  EXPECT_EQ(watched.ecc_corrected.value(), 2);
  EXPECT_EQ(watched.ecc_uncorrected.why(), "the counter decreased");
}

TEST(GpuTally, ReportsEnergyFromFiveSecondsOn) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  fake->answers["nvmlDeviceGetTotalEnergyConsumption"] = {1'000'000, 6'000'000};
  const results::GpuWatched watched = tallied(fake, seconds(10), 11);
  EXPECT_DOUBLE_EQ(watched.joules.value(), 5000);
  EXPECT_DOUBLE_EQ(results::counted_watts(watched).value(), 500);

  fake->calls.clear();
  const results::GpuWatched shorter = tallied(fake, milliseconds(4'900), 2);
  EXPECT_EQ(shorter.joules.why(), "the energy counter needs 5 s of steps, but they took 4.9 s");
  EXPECT_EQ(results::counted_watts(shorter).why(), shorter.joules.why());
}

TEST(GpuTally, ExplainsValuesWithoutSamples) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  for (const char* function :
       {"nvmlDeviceGetClockInfo", "nvmlDeviceGetCurrentClocksEventReasons",
        "nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetComputeRunningProcesses_v3"}) {
    fake->failures[function] = 3;
  }
  const results::GpuWatched watched = tallied(fake, seconds(10));
  EXPECT_EQ(watched.sm_mhz.why(), "nvmlDeviceGetClockInfo: Not Supported");
  EXPECT_EQ(watched.clock_events.why(), "nvmlDeviceGetCurrentClocksEventReasons: Not Supported");
  EXPECT_EQ(watched.joules.why(), "nvmlDeviceGetTotalEnergyConsumption: Not Supported");
  EXPECT_EQ(watched.others.why(), "nvmlDeviceGetComputeRunningProcesses_v3: Not Supported");
  EXPECT_EQ(watched.others_count.why(), watched.others.why());
  EXPECT_DOUBLE_EQ(watched.watts.value().mean, 500);
}

TEST(GpuTally, RemembersAProcessThatHasGone) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  const GpuSensors sensors(kFakeBus, fake.path);
  const FakeClock clock;
  GpuTally tally(sensors, clock);
  fake->processes[4'000'001] = 10;
  tally.begin();
  fake->processes[4'000'001] = 30;
  fake->processes[4'000'002] = 5;
  for (int i = 0; i < 10; ++i) {
    tally.sample();
  }
  fake->processes.erase(4'000'001);
  fake->processes.erase(4'000'002);
  tally.end();
  EXPECT_EQ(tally.result().others_count.value(), 2);
  const auto others = tally.result().others.value();
  ASSERT_THAT(others, SizeIs(2));
  EXPECT_EQ(others[0].memory.value(), 30);
  EXPECT_EQ(others[1].pid, 4'000'002);
}

TEST(GpuTally, CountsTheMostUnnamedProcesses) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  const GpuSensors sensors(kFakeBus, fake.path);
  const FakeClock clock;
  GpuTally tally(sensors, clock);
  fake->processes = {{4'000'001, 10}, {4'000'002, 10}, {4'000'003, 10}};
  tally.begin();
  fake->processes.erase(4'000'003);
  tally.end();
  EXPECT_EQ(tally.result().others_count.value(), 2);
  EXPECT_THAT(tally.result().others.why(), HasSubstr("ids of another PID namespace"));
}

TEST(GpuWatch, SamplesOnASeparateThreadUntilItEnds) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  const GpuSensors sensors(kFakeBus, fake.path);
  const SteadyClock clock;
  GpuWatch watch(sensors, clock, nanoseconds(1));
  watch.begin();
  watch.end();
  const int calls = fake->calls["nvmlDeviceGetPowerUsage"];
  watch.end();
  const results::GpuWatched watched = watch.result().value();
  EXPECT_GE(watched.samples, 1);
  EXPECT_EQ(calls, watched.samples);
  EXPECT_EQ(fake->calls["nvmlDeviceGetPowerUsage"], calls);
  EXPECT_EQ(fake->calls["nvmlDeviceGetTotalEnergyConsumption"], 2);
  EXPECT_THAT(fake->threads, Each(Ne(std::this_thread::get_id())));
}

TEST(GpuWatches, CoverEachReadableCard) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  std::vector<std::unique_ptr<GpuSensors>> sensors;
  sensors.push_back(std::make_unique<GpuSensors>(kFakeBus, fake.path));
  sensors.push_back(nullptr);
  sensors.push_back(std::make_unique<GpuSensors>(kFakeBus, fake.path));
  const SteadyClock clock;
  GpuWatches watches(sensors, clock);
  watches.begin();
  watches.end();
  std::vector<results::Gpu> gpus(3);
  gpus[1].watched = Unknown{"no driver"};
  watches.add_to(gpus);
  EXPECT_GE(gpus[0].watched.value().samples, 1);
  EXPECT_EQ(gpus[1].watched.why(), "no driver");
  EXPECT_GE(gpus[2].watched.value().samples, 1);
}

TEST(GpuWatch, ReadsNothingBeforeItBegins) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  const GpuSensors sensors(kFakeBus, fake.path);
  const SteadyClock clock;
  GpuWatch watch(sensors, clock);
  watch.end();
  EXPECT_EQ(watch.result().why(), "no step was timed");
  EXPECT_THAT(fake->calls, IsEmpty());
}

TEST(GpuWatch, GoesOnUntilItEnds) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  std::promise<void> third;
  fake->on_call = [&](const std::string& function) {
    if (function == "nvmlDeviceGetPowerUsage" && fake->calls[function] == 3) {
      third.set_value();
    }
  };
  const GpuSensors sensors(kFakeBus, fake.path);
  const SteadyClock clock;
  GpuWatch watch(sensors, clock, nanoseconds(1));
  watch.begin();
  third.get_future().wait();
  watch.end();
  EXPECT_GE(watch.result().value().samples, 3);
}

}  // namespace
}  // namespace bench
