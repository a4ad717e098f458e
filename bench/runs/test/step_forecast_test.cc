#include "bench/runs/step_forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string_view>
#include <vector>

#include "bench/flags/test/usage_error.h"
#include "bench/plan/resolve_settings.h"

namespace bench {
namespace {

using ::testing::HasSubstr;

/// The printed forecast of a training step whose network runs for 10 ms.
std::string forecast_with(std::vector<std::string_view> arguments) {
  arguments.insert(arguments.end(),
                   {"--model=lenet", "--plan_for=sm_90", "--dump=plan", "--batch_size=8"});
  LoweredGraph lowered;
  lowered.seconds = 0.01;
  std::ostringstream out;
  print_forecast(lowered, resolve_settings(parse(arguments)), false, out);
  return out.str();
}

TEST(PrintForecast, CountsTheRunsOfVirtualTowers) {
  EXPECT_THAT(forecast_with({}),
              HasSubstr("planned step: 0 nodes and reorders, 0.00 GB read and written, estimated "
                        "at 10.00 ms or 800.0 images/sec, without the optimizer\n"));
  EXPECT_THAT(forecast_with({"--virtual_gpus=4"}),
              HasSubstr("planned step: 4 runs of 0 nodes and reorders, 0.00 GB read and written, "
                        "estimated at 40.00 ms or 800.0 images/sec, without the optimizer and "
                        "communication\n"));
  EXPECT_THAT(forecast_with({"--num_gpus=4"}),
              HasSubstr("estimated at 10.00 ms or 800.0 images/sec per tower, without the "
                        "optimizer and communication\n"));
}

}  // namespace
}  // namespace bench
