#pragma once

#include <cstdint>

namespace bench::cpu {

/// All channels of a few pixels, as contiguous lines of elements. In nchw there is a line per
/// channel, and neighbouring channels are one line apart. In nhwc there is one line with all
/// channels of one pixel. Scratch arrays hold the lines without gaps, with edges before and after
/// for the window.
struct LrnSlab {
  std::int64_t lines = 0;
  std::int64_t length = 0;
  /// Elements from line to line in the tensor.
  std::int64_t pitch = 0;
  /// Elements from channel to channel in the scratch arrays.
  std::int64_t step = 0;
  std::int64_t radius = 0;

  [[nodiscard]] std::int64_t edge() const { return radius * step; }
  /// Elements of a scratch array, including edges.
  [[nodiscard]] std::int64_t elements() const { return lines * length + 2 * edge(); }
};

}  // namespace bench::cpu
