#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/executor.h"

namespace bench {

/// A gradient that tf_cnn_benchmarks computes.
struct OriginalGradient {
  std::string_view variable;
  double norm = 0;
  /// See weighted_sum().
  double sum = 0;
};

inline double norm_of(const std::vector<float>& values) {
  double squares = 0;
  for (const float value : values) {
    squares += double{value} * double{value};
  }
  return std::sqrt(squares);
}

/// The sum of the elements, each times cos(0.61 i).
inline double weighted_sum(const std::vector<float>& values) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += double{values[i]} * std::cos(0.61 * static_cast<double>(i));
  }
  return sum;
}

/// `tolerance` is a share of each norm.
inline void expect_gradients(Executor& executor, std::span<const OriginalGradient> expected,
                             double tolerance) {
  for (const OriginalGradient& each : expected) {
    const std::vector<float> gradient = executor.read_gradient(std::string(each.variable));
    EXPECT_NEAR(norm_of(gradient), each.norm, tolerance * each.norm) << each.variable;
    EXPECT_NEAR(weighted_sum(gradient), each.sum, 2 * tolerance * each.norm) << each.variable;
  }
}

}  // namespace bench
