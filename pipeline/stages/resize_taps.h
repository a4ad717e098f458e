#pragma once

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
