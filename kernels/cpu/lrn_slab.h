#pragma once

#include <cstdint>

namespace bench::cpu {

/// All channels of a few pixels, as lines of elements in a row: a line per channel of nchw, whose
/// neighbours lie one line apart, or one line of all channels of one pixel of nhwc. Scratch arrays
/// hold the lines without gaps, with edges in front and behind where the window hangs over.
struct LrnSlab {
  std::int64_t lines = 0;
  std::int64_t length = 0;
  /// Elements from line to line in the tensor.
  std::int64_t pitch = 0;
  /// Elements from channel to channel in the scratch arrays.
  std::int64_t step = 0;
  std::int64_t radius = 0;

  [[nodiscard]] std::int64_t edge() const { return radius * step; }
  /// Of a scratch array, edges included.
  [[nodiscard]] std::int64_t elements() const { return lines * length + 2 * edge(); }
};

}  // namespace bench::cpu
