#include "bench/report/latency.h"

#include <gtest/gtest.h>

#include <sstream>

namespace bench {
namespace {

/// Steps of 1, 2, ..., `count` ms, the slowest first.
std::string printed(int count, std::int64_t images) {
  SessionResult session;
  for (int i = count; i > 0; --i) {
    session.steps.emplace_back(std::chrono::milliseconds(i));
  }
  std::ostringstream out;
  print_latency(session, images, "image", out);
  return out.str();
}

TEST(Latency, PrintsQuantilesOfTheStepTimes) {
  EXPECT_EQ(printed(1001, 1),
            "latency of 1 image: p50 501.000 ms, p90 901.000 ms, p99 991.000 ms, max 1001.000 ms "
            "(1001 inferences)\n");
}

TEST(Latency, SaysIfThereAreTooFewSteps) {
  EXPECT_EQ(printed(101, 8),
            "latency of 8 images: p50 51.000 ms, p90 91.000 ms, p99 100.000 ms, max 101.000 ms "
            "(101 inferences, too few for a reliable p99)\n");
}

TEST(Latency, PrintsNothingWithoutAStep) { EXPECT_EQ(printed(0, 1), ""); }

}  // namespace
}  // namespace bench
