#include "results/environment/gpu_sensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/environment/test/fake_nvml.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kNotSupported = 3;
constexpr int kNoPermission = 4;
constexpr int kDriverNotLoaded = 9;

results::Gpu described(const GpuSensors& sensors) {
  results::Gpu gpu;
  sensors.describe(gpu);
  return gpu;
}

TEST(GpuSensors, DescribeTheCard) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  const GpuSensors sensors(kFakeBus, fake.path);
  ASSERT_THAT(sensors.why_not(), IsEmpty());
  const results::Gpu gpu = described(sensors);
  EXPECT_EQ(gpu.pci_bus_id, kFakeBus);
  EXPECT_EQ(gpu.uuid.value(), "GPU-fake");
  EXPECT_EQ(gpu.driver.value(), "580.95.05");
  EXPECT_EQ(gpu.nvml.value(), "13.580.95.05");
  EXPECT_EQ(gpu.memory_total.value(), std::int64_t{80} << 30);
  EXPECT_EQ(gpu.memory_used.value(), std::int64_t{3} << 30);
  EXPECT_TRUE(gpu.ecc.value());
  EXPECT_TRUE(gpu.persistence.value());
  EXPECT_FALSE(gpu.mig.value());
  EXPECT_EQ(gpu.clocks.sm.value(), 1965);
  EXPECT_EQ(gpu.clocks.graphics.value(), 1950);
  EXPECT_EQ(gpu.clocks.memory.value(), 2619);
  EXPECT_EQ(gpu.clocks_max.sm.value(), 1980);
  EXPECT_DOUBLE_EQ(gpu.power_limit_watts.value(), 700);
  EXPECT_DOUBLE_EQ(gpu.power_limit_default_watts.value(), 700);
  EXPECT_DOUBLE_EQ(gpu.celsius.value(), 55);
  EXPECT_EQ(gpu.pcie.generation.value(), 5);
  EXPECT_EQ(gpu.pcie.width_max.value(), 16);
}

TEST(GpuSensors, ExplainAMissingLibrary) {
  const GpuSensors sensors(kFakeBus, "libno-such-nvml.so.1");
  EXPECT_THAT(sensors.why_not(),
              AllOf(HasSubstr("NVML cannot be opened"), HasSubstr("libno-such-nvml.so.1")));
  const results::Gpu gpu = described(sensors);
  for (const std::string& why :
       {gpu.uuid.why(), gpu.driver.why(), gpu.memory_used.why(), gpu.ecc.why(), gpu.mig.why(),
        gpu.clocks.sm.why(), gpu.power_limit_watts.why(), gpu.pcie.width.why(),
        sensors.sample().clock_events.why(), sensors.counters().joules.why(),
        sensors.counters().ecc_corrected.why(), sensors.others().count.why(),
        sensors.others().processes.why()}) {
    EXPECT_EQ(why, sensors.why_not());
  }
}

TEST(GpuSensors, ExplainAMissingDriverOrCard) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  EXPECT_EQ(GpuSensors("0000:17:00.0", fake.path).why_not(),
            "nvmlDeviceGetHandleByPciBusId_v2: Not Found");
  fake->failures["nvmlInit_v2"] = kDriverNotLoaded;
  const GpuSensors sensors(kFakeBus, fake.path);
  EXPECT_EQ(sensors.why_not(), "nvmlInit_v2: Driver Not Loaded");
  EXPECT_EQ(described(sensors).driver.why(), sensors.why_not());
}

TEST(GpuSensors, DistinguishUnknownValuesFromZero) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  fake->failures = {{"nvmlDeviceGetEccMode", kNotSupported},
                    {"nvmlDeviceGetPowerUsage", kNotSupported},
                    {"nvmlDeviceGetViolationStatus", kNoPermission},
                    {"nvmlDeviceGetMemoryInfo", kNoPermission},
                    {"nvmlSystemGetDriverVersion", kNoPermission}};
  const GpuSensors sensors(kFakeBus, fake.path);
  const results::Gpu gpu = described(sensors);
  EXPECT_EQ(gpu.ecc.why(), "nvmlDeviceGetEccMode: Not Supported");
  EXPECT_EQ(gpu.memory_used.why(), "nvmlDeviceGetMemoryInfo: Insufficient Permissions");
  EXPECT_EQ(gpu.driver.why(), "nvmlSystemGetDriverVersion: Insufficient Permissions");
  EXPECT_EQ(sensors.sample().watts.why(), "nvmlDeviceGetPowerUsage: Not Supported");
  EXPECT_EQ(sensors.counters().thermal_violation.why(),
            "nvmlDeviceGetViolationStatus: Insufficient Permissions");
  EXPECT_EQ(gpu.clocks.sm.value(), 1965);
}

TEST(GpuSensors, AcceptTheOlderNameOfClockEvents) {
  const FakeNvmlLibrary fake(FAKE_NVML_OLD_LIBRARY);
  fake->answers["nvmlDeviceGetCurrentClocksThrottleReasons"] = {0x44};
  const GpuSensors sensors(kFakeBus, fake.path);
  EXPECT_EQ(sensors.sample().clock_events.value(), 0x44U);
  EXPECT_THAT(sensors.counters().joules.why(),
              HasSubstr("has no nvmlDeviceGetTotalEnergyConsumption"));
  EXPECT_THAT(sensors.others().count.why(),
              HasSubstr("has no nvmlDeviceGetComputeRunningProcesses_v3"));
}

TEST(GpuSensors, ReadASample) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  fake->answers["nvmlDeviceGetCurrentClocksEventReasons"] = {0x4};
  const GpuSample sample = GpuSensors(kFakeBus, fake.path).sample();
  EXPECT_DOUBLE_EQ(sample.sm_mhz.value(), 1965);
  EXPECT_DOUBLE_EQ(sample.watts.value(), 500);
  EXPECT_DOUBLE_EQ(sample.celsius.value(), 55);
  EXPECT_DOUBLE_EQ(sample.utilization.value(), 0.98);
  EXPECT_EQ(sample.clock_events.value(), 0x4U);
}

TEST(GpuSensors, ListTheProcessesOfOthers) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  const GpuSensors sensors(kFakeBus, fake.path);
  EXPECT_THAT(sensors.others().processes.value(), IsEmpty());
  EXPECT_EQ(sensors.others().count.value(), 0);
  fake->processes[4'000'001] = 1024;
  fake->processes[4'000'002] = nvml::kNotAvailable;
  EXPECT_EQ(sensors.others().count.value(), 2);
  const auto others = sensors.others().processes.value();
  ASSERT_THAT(others, SizeIs(2));
  EXPECT_EQ(others[0].pid, 4'000'001);
  EXPECT_EQ(others[0].memory.value(), 1024);
  EXPECT_EQ(others[1].memory.why(), "the driver does not report it");
}

TEST(GpuSensors, OmitProcessesOfTheSameRunAndOfOtherSlices) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  GpuSensors sensors(kFakeBus, fake.path);
  fake->processes[4'000'001] = 1024;
  fake->processes[4'000'002] = 1024;
  sensors.set_neighbours({4'000'001});
  EXPECT_EQ(sensors.others().count.value(), 1);
  fake->gpu_instances[4'000'002] = 7;
  EXPECT_EQ(sensors.others().count.value(), 0);
  EXPECT_THAT(sensors.others().processes.value(), IsEmpty());
}

TEST(GpuSensors, DoNotKnowOthersIfTheIdsOfARunOrASliceCannotBeFound) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  fake->processes = {{4'000'001, 1024}, {4'000'002, 512}};
  GpuSensors of_several(kFakeBus, fake.path);
  of_several.set_neighbours({17});
  EXPECT_FALSE(of_several.others().count.known());
  fake->gpu_instances[4'000'002] = 7;
  EXPECT_FALSE(GpuSensors(kFakeBus, fake.path).others().count.known());
}

// In a container, process ids differ from those of the driver.
TEST(GpuSensors, CountOtherProcessesInAnotherNamespace) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  fake->processes = {{4'000'001, 1024}};
  const GpuSensors sensors(kFakeBus, fake.path);
  EXPECT_EQ(sensors.others().count.value(), 0);
  EXPECT_THAT(sensors.others().processes.value(), IsEmpty());
  fake->processes[4'000'002] = 512;
  EXPECT_EQ(sensors.others().count.value(), 1);
  EXPECT_EQ(sensors.others().processes.why(),
            "the driver lists 2 processes on the card, including this one, by ids of another PID "
            "namespace");
}

TEST(GpuSensors, ReportNoProcessesIfTheDriverListsNone) {
  const FakeNvmlLibrary fake(FAKE_NVML_LIBRARY);
  fake->processes.clear();
  const GpuOthers others = GpuSensors(kFakeBus, fake.path).others();
  EXPECT_EQ(others.count.why(), "the driver lists no process on the card, not even this one");
  EXPECT_EQ(others.processes.why(), others.count.why());
}

}  // namespace
}  // namespace bench
