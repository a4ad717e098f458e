#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// One axis of a resize: the two source positions that each output position mixes, and the weight
/// of the second. A constant source gives exactly that constant.
struct AxisTaps {
  std::vector<std::int32_t> first;
  std::vector<std::int32_t> second;
  std::vector<float> weight;  ///< of `second`, in [0, 1)

  [[nodiscard]] int size() const { return static_cast<int>(first.size()); }
  /// The lowest and the highest source position that is read.
  [[nodiscard]] int lowest() const;
  [[nodiscard]] int highest() const;

  /// Adapts the taps to a source that begins `offset` positions further on: a window of the
  /// original.
  void shift(int offset);
  /// Adapts the taps to a mirrored source of `extent` positions.
  void mirror(int extent);
};

/// One axis of a resize that mixes any number of consecutive source positions, and their weights.
template <class Weight>
struct WeightedTaps {
  struct Output {
    int begin = 0;  ///< The first source position.
    int count = 0;
    std::size_t weights = 0;  ///< The index of the first weight.
  };
  std::vector<Output> outputs;
  std::vector<Weight> weights;

  /// The lowest and the highest source position that is read.
  [[nodiscard]] int lowest() const {
    return std::ranges::min_element(outputs, {}, &Output::begin)->begin;
  }
  [[nodiscard]] int highest() const {
    int highest = 0;
    for (const Output& output : outputs) {
      highest = std::max(highest, output.begin + output.count - 1);
    }
    return highest;
  }
  /// Adapts the taps to a source that begins `offset` positions further on.
  void shift(int offset) {
    for (Output& output : outputs) {
      output.begin -= offset;
    }
  }
  /// Adapts the taps to a mirrored source of `extent` positions. Outputs must not share weights.
  void mirror(int extent) {
    for (Output& output : outputs) {
      output.begin = extent - output.begin - output.count;
      const auto first = weights.begin() + static_cast<std::ptrdiff_t>(output.weights);
      std::reverse(first, first + output.count);
    }
  }
};

/// An axis of `from` positions resized to `to` positions. Only the outputs [begin, begin + count)
/// are computed.
struct AxisResize {
  int from = 0;
  int to = 0;
  int begin = 0;
  int count = 0;
};

enum class Interpolation : std::uint8_t { nearest, bilinear };

/// TensorFlow 1's resize with align_corners false and no half-pixel centres: output i is at source
/// position i * from / to.
AxisTaps resize_taps(const AxisResize& axis, Interpolation interpolation);

/// Taps that copy `count` source positions from `begin` on.
AxisTaps copy_taps(int begin, int count);

}  // namespace bench
