#include "bench/report/gpu_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace bench {
namespace {

results::Record watched_record() {
  results::Record record;
  record.metrics = {{.name = "joules_per_image", .value = 0.08532}};
  results::Gpu& gpu = record.gpus.emplace_back();
  gpu.counted_sm_mhz = 1751.6;
  gpu.watched =
      results::GpuWatched{.window = std::chrono::milliseconds(12'340),
                          .samples = 4,
                          .sm_mhz = results::Spread{.mean = 1755.4, .min = 1740, .max = 1770},
                          .watts = results::Spread{.mean = 611.6, .min = 600, .max = 620},
                          .celsius = results::Spread{.mean = 58, .min = 50, .max = 61},
                          .clock_events = results::ClockEvents{.samples = {0x1, 0x4, 0x44, 0}}};
  return record;
}

std::string printed(void (*print)(const results::Record&, std::ostream&),
                    const results::Record& record) {
  std::ostringstream out;
  print(record, out);
  return out.str();
}

TEST(GpuReport, IsALineOnTheCardThatWasWatched) {
  EXPECT_EQ(printed(print_gpus, watched_record()),
            "GPU: SM clock 1755 MHz (1740 to 1770), 1752 MHz counted by a kernel after the steps, "
            "clocks reduced by sw_power_cap in 50 % of the "
            "samples and hw_thermal_slowdown in 25 % of the samples, 612 W, at most 61 degrees "
            "Celsius, 0.0853 J/image over 12.3 s (board sensor, not wall)\n");
}

TEST(GpuReport, OmitsUnknownValuesAndExplainsMissingEnergy) {
  results::Record record = watched_record();
  record.metrics[0].value = Unknown{"the steps took 2 s"};
  record.gpus[0].counted_sm_mhz = Unknown{"no step was timed"};
  record.gpus[0].watched =
      results::GpuWatched{.clock_events = results::ClockEvents{.samples = {0, 0x1}}};
  EXPECT_EQ(printed(print_gpus, record),
            "GPU: clocks not reduced, J/image unavailable: the steps took 2 s\n");
}

TEST(GpuReport, PrintsTheEnergyPerTokenOfATokenRun) {
  results::Record record = watched_record();
  record.metrics = {{.name = "joules_per_token", .value = 0.0125}};
  EXPECT_THAT(printed(print_gpus, record), testing::HasSubstr(" 0.0125 J/token over 12.3 s"));
  record.metrics = {{.name = "joules_per_example", .value = 1.4e-5}};
  EXPECT_THAT(printed(print_gpus, record), testing::HasSubstr(" 0.0140 mJ/example over 12.3 s"));
}

TEST(GpuReport, NamesEachCardAndReportsTheirEnergyOnce) {
  results::Record record = watched_record();
  results::Gpu second;
  second.watched =
      results::GpuWatched{.window = std::chrono::milliseconds(12'340),
                          .celsius = results::Spread{.mean = 70, .min = 60, .max = 72}};
  record.gpus.push_back(second);
  const std::string text = printed(print_gpus, record);
  EXPECT_THAT(text, testing::StartsWith("GPU 0: SM clock 1755 MHz"));
  EXPECT_THAT(text,
              testing::EndsWith("61 degrees Celsius\nGPU 1: at most 72 degrees Celsius\n"
                                "GPUs together: 0.0853 J/image over 12.3 s (board sensor, not "
                                "wall)\n"));
}

TEST(GpuReport, IsEmptyWithoutAGpuOrItsSensors) {
  EXPECT_EQ(printed(print_gpus, {}) + printed(print_verdict, {}), "");
  results::Record record;
  record.gpus.emplace_back().watched = Unknown{"no driver"};
  EXPECT_EQ(printed(print_gpus, record), "");
}

TEST(GpuReport, PrintsTheVerdictWithItsReasons) {
  results::Record record = watched_record();
  record.quality.verdict = results::Verdict::kValid;
  EXPECT_EQ(printed(print_verdict, record), "verdict: VALID\n");
  record.quality.unread = {"the SM clock (Not Supported)", "errors"};
  EXPECT_EQ(printed(print_verdict, record),
            "verdict: VALID, but these values could not be read: the SM clock (Not Supported); "
            "errors\n");
  record.quality.verdict = results::Verdict::kInvalid;
  record.quality.reasons = {"heat", "others"};
  EXPECT_EQ(printed(print_verdict, record), "verdict: INVALID: heat; others\n");
  record.quality.verdict = Unknown{"no driver"};
  EXPECT_EQ(printed(print_verdict, record), "verdict: unavailable: no driver\n");
}

}  // namespace
}  // namespace bench
