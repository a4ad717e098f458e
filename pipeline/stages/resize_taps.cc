#include "pipeline/stages/resize_taps.h"

#include <algorithm>
#include <cmath>

namespace bench {

int AxisTaps::lowest() const {
  return std::min(*std::min_element(first.begin(), first.end()),
                  *std::min_element(second.begin(), second.end()));
}

int AxisTaps::highest() const {
  return std::max(*std::max_element(first.begin(), first.end()),
                  *std::max_element(second.begin(), second.end()));
}

void AxisTaps::shift(int offset) {
  for (std::int32_t& position : first) {
    position -= offset;
  }
  for (std::int32_t& position : second) {
    position -= offset;
  }
}

void AxisTaps::mirror(int extent) {
  for (std::int32_t& position : first) {
    position = extent - 1 - position;
  }
  for (std::int32_t& position : second) {
    position = extent - 1 - position;
  }
}

AxisTaps resize_taps(const AxisResize& axis, Interpolation interpolation) {
  AxisTaps taps;
  const float scale = static_cast<float>(axis.from) / static_cast<float>(axis.to);
  for (int i = axis.begin; i < axis.begin + axis.count; ++i) {
    const float position = static_cast<float>(i) * scale;
    const int first = std::min(static_cast<int>(std::floor(position)), axis.from - 1);
    const bool mixes = interpolation == Interpolation::bilinear;
    taps.first.push_back(first);
    taps.second.push_back(mixes ? std::min(first + 1, axis.from - 1) : first);
    taps.weight.push_back(mixes ? position - std::floor(position) : 0.0F);
  }
  return taps;
}

AxisTaps copy_taps(int begin, int count) {
  return resize_taps({.from = begin + count, .to = begin + count, .begin = begin, .count = count},
                     Interpolation::nearest);
}

}  // namespace bench
