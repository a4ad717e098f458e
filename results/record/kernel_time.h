#pragma once

#include <string>

namespace bench::results {

/// A part of a profiled step.
struct KernelTime {
  std::string op{};
  std::string name{};
  std::string implementation{};
  double seconds = 0;
  /// 2 per multiply-add of convolutions and fully connected layers.
  double flops = 0;
  /// The part that it can avoid: products with zeros of the padding, or those that its algorithm
  /// saves.
  double avoidable_flops = 0;
  double bytes = 0;
};

}  // namespace bench::results
