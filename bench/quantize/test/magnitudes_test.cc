#include "bench/quantize/magnitudes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "models/base/philox.h"

namespace bench {
namespace {

constexpr double kU8 = 255;
constexpr double kS8 = 127;

/// Powers of normal numbers: a higher power has larger outliers.
std::vector<float> draw(std::size_t count, int power) {
  RandomStream random(1, 0);
  std::vector<float> numbers(count);
  for (float& number : numbers) {
    number = static_cast<float>(std::pow(random.normal(), power));
  }
  return numbers;
}

double largest_of(const std::vector<float>& numbers) {
  float largest = 0;
  for (const float number : numbers) {
    largest = std::max(largest, std::abs(number));
  }
  return static_cast<double>(largest);
}

/// The total error of quantising, each error with its power 1.5.
double error_of(const std::vector<float>& numbers, double cut, double levels) {
  double error = 0;
  for (const float number : numbers) {
    const double wanted = std::abs(static_cast<double>(number));
    const double quanta = std::min(std::nearbyint(wanted * levels / cut), levels);
    error += std::pow(std::abs(quanta * cut / levels - wanted), 1.5);
  }
  return error;
}

double best_cut(const std::vector<float>& numbers, double levels) {
  Magnitudes magnitudes;
  magnitudes.add(numbers);
  return magnitudes.best_cut(levels);
}

TEST(Magnitudes, AreCutWhereTheErrorIsWithinTwoPerCentOfTheLeast) {
  for (const int power : {1, 3, 5}) {
    const auto numbers = draw(5000, power);
    const double largest = largest_of(numbers);
    for (const double levels : {15.0, kS8, kU8}) {
      double least = std::numeric_limits<double>::infinity();
      for (int part = 1; part <= 64; ++part) {
        least = std::min(least, error_of(numbers, largest * part / 64, levels));
      }
      const double cut = best_cut(numbers, levels);
      EXPECT_LE(error_of(numbers, cut, levels), 1.02 * least)
          << "power " << power << ", " << levels << " levels, cut at " << cut / largest;
      EXPECT_LE(cut, largest);
    }
  }
}

TEST(Magnitudes, DoNotDependOnTheNumberOfParts) {
  for (const int power : {1, 5}) {
    const auto numbers = draw(5000, power);
    Magnitudes whole;
    whole.add(numbers);
    Magnitudes merged;
    Magnitudes part;
    for (const std::size_t begin : {0U, 1000U, 2000U, 3000U, 4000U}) {
      part.clear();
      part.add(std::span(numbers).subspan(begin, 1000));
      merged.merge(part);
    }
    EXPECT_EQ(merged.best_cut(kS8), whole.best_cut(kS8));
    EXPECT_EQ(merged.low(), whole.low());
    EXPECT_EQ(merged.high(), whole.high());
  }
}

TEST(Magnitudes, AreNotCutWithoutOutliers) {
  std::vector<float> numbers;
  for (int i = -1000; i <= 1000; ++i) {
    numbers.push_back(static_cast<float>(i));
  }
  EXPECT_NEAR(best_cut(numbers, kS8), 1000, 10);
}

TEST(Magnitudes, LoseOneOutlierAmongManySmallOnes) {
  std::vector<float> numbers(30'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<float>(i % 1000) / 1000;
  }
  numbers[77] = -4;
  // The error is (4 - c)^1.5 for the one and (c / 510)^1.5 / 2.5 for each other; the least is at
  // 1.918.
  EXPECT_NEAR(best_cut(numbers, kU8), 1.918, 0.04);
}

TEST(Magnitudes, DoNotDependOnHowTheNumbersCome) {
  auto numbers = draw(20000, 3);
  const double once = best_cut(numbers, kU8);
  std::sort(numbers.begin(), numbers.end(),
            [](float a, float b) { return std::abs(a) < std::abs(b); });
  Magnitudes growing;
  for (std::size_t begin = 0; begin < numbers.size(); begin += 100) {
    growing.add(std::span(numbers).subspan(begin, 100));
  }
  EXPECT_EQ(growing.best_cut(kU8), once);
}

TEST(Magnitudes, SkipZerosAndNonFiniteValues) {
  EXPECT_EQ(Magnitudes().best_cut(kU8), 0);
  EXPECT_EQ(best_cut({0, 0}, kU8), 0);
  auto numbers = draw(1000, 3);
  const double cut = best_cut(numbers, kU8);
  numbers.resize(100'000);
  numbers.push_back(std::numeric_limits<float>::infinity());
  numbers.push_back(std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(best_cut(numbers, kU8), cut);
}

}  // namespace
}  // namespace bench
