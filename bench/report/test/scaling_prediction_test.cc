#include "bench/report/scaling_prediction.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

namespace bench {
namespace {

/// A published efficiency, with the speed of one device. The bandwidths within a host, and the
/// speed in the first row, are assumptions.
struct Published {
  const char* name;
  double images_per_second;
  double batch;
  double megabytes;
  int processes;
  int per_host;
  double gigabits_per_second;
  double gigabytes_per_second_within;
  double efficiency;
};

// Goyal et al., Accurate, Large Minibatch SGD (2017); Sergeev and Del Balso, Horovod (2018);
// TensorFlow's page of benchmarks (2017), DGX-1. All on P100.
constexpr std::array kPublished{
    Published{"ResNet-50 on 256", 219, 32, 102, 256, 8, 50, 30, 0.90},
    Published{"Inception v3 on 512", 142, 64, 95.4, 512, 4, 25, 10, 0.90},
    Published{"ResNet-101 on 512", 120, 64, 178.5, 512, 4, 25, 10, 0.90},
    Published{"VGG-16 on 512", 154, 64, 553.4, 512, 4, 25, 10, 0.68},
    Published{"VGG-16 on 128", 154, 64, 553.4, 128, 4, 25, 10, 0.79},
    Published{"ResNet-50 on 8", 219, 64, 102, 8, 8, 100, 30, 1734.0 / 219 / 8},
    Published{"Inception v3 on 8", 142, 64, 95.4, 8, 8, 100, 30, 1131.0 / 142 / 8},
    Published{"VGG-16 on 8", 154, 64, 553.4, 8, 8, 100, 30, 1081.0 / 154 / 8}};

// Chosen once, the same for all.
constexpr int kBuckets = 8;
constexpr double kBackwardShare = 0.66;
constexpr double kShareOfNetwork = 0.9;
constexpr double kPerMessage = 20e-6;

double predicted_efficiency(const Published& point) {
  const double step = point.batch / point.images_per_second;
  StepTiming timing{.step = step, .computing = step, .buckets = {}};
  for (int bucket = 1; bucket <= kBuckets; ++bucket) {
    timing.buckets.push_back(
        {.bytes = point.megabytes * 1e6 / kBuckets,
         .ready = step * (1 - kBackwardShare + kBackwardShare * bucket / kBuckets)});
  }
  return step /
         predicted_step(timing,
                        {.per_host = point.per_host,
                         .bytes_per_second_within = point.gigabytes_per_second_within * 1e9,
                         .bytes_per_second = kShareOfNetwork * point.gigabits_per_second * 1e9 / 8,
                         .per_message = kPerMessage},
                        point.processes);
}

TEST(PredictedStep, IsWithinFivePointsOfPublishedEfficienciesOnAverage) {
  double sum = 0;
  double largest = 0;
  for (const Published& point : kPublished) {
    const double difference = 100 * std::abs(predicted_efficiency(point) - point.efficiency);
    RecordProperty(point.name, std::to_string(100 * predicted_efficiency(point)));
    sum += difference;
    largest = std::max(largest, difference);
  }
  EXPECT_LE(sum / kPublished.size(), 5);
  EXPECT_LE(largest, 10);
}

TEST(PredictedStep, HidesCommunicationBehindTheBackwardPass) {
  const StepTiming timing{.step = 1,
                          .computing = 1,
                          .buckets = {{.bytes = 100, .ready = 0.5}, {.bytes = 0, .ready = 1}}};
  const auto exposed = [&](double bytes_per_second) {
    const Fabric fabric{.bytes_per_second = bytes_per_second};
    return predicted_step(timing, fabric, 2) -
           predicted_step(timing, {.bytes_per_second = 1e30}, 2);
  };
  EXPECT_NEAR(exposed(200), 0, 1e-12) << "the sum takes half a second";
  EXPECT_NEAR(exposed(100), 0.5, 1e-12);
}

TEST(PredictedStep, OfOneProcessIsItsOwn) {
  EXPECT_EQ(predicted_step({.step = 2, .computing = 1, .buckets = {{.bytes = 1, .ready = 1}}},
                           {.bytes_per_second = 1}, 1),
            2);
}

}  // namespace
}  // namespace bench
