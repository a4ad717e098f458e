#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/formats/rgbx_image.h"

namespace bench {

/// The parts of a seekable JPEG. Restart markers divide each row of its MCUs (minimum coded units,
/// for example 16 x 16 pixels) into equal intervals, and each interval can be decoded alone.
struct SeekableJpeg {
  int width = 0;  ///< of the image, in pixels
  int height = 0;
  int mcu_width = 0;  ///< in pixels
  int mcu_height = 0;
  int interval = 0;       ///< in MCUs
  std::size_t frame = 0;  ///< where the frame's header has its height, then its width
  std::size_t scan = 0;   ///< where the entropy-coded data begin

  [[nodiscard]] int mcus_per_row() const { return (width + mcu_width - 1) / mcu_width; }
  [[nodiscard]] int mcu_rows() const { return (height + mcu_height - 1) / mcu_height; }
};

/// Reads the header of a JPEG (ITU-T T.81, annex B), not the data after it. Returns nothing if the
/// image is not seekable. A seekable image is baseline, has three components in one scan, and has
/// restart intervals that divide a row of MCUs evenly.
std::optional<SeekableJpeg> read_seekable(std::string_view jpeg);

/// A smaller JPEG, and the place of the window in it.
struct CutJpeg {
  std::string_view jpeg;
  PixelWindow window;
};

/// Cuts windows out of seekable JPEGs without decoding them. One cutter serves one thread and
/// reuses its memory.
class JpegCutter {
 public:
  /// Returns a JPEG of only the intervals that the window touches, where decoding gives the window
  /// the same pixels. It is valid until the next call. Upsampling reads `margin` pixels around the
  /// window. Returns nothing if the restart markers are not those that the header announces.
  std::optional<CutJpeg> cut(std::string_view jpeg, const SeekableJpeg& parts,
                             const PixelWindow& window, int margin);

 private:
  /// Sets begins_; false if the markers are wrong.
  bool find_intervals(std::string_view jpeg, const SeekableJpeg& parts);

  std::vector<std::size_t> begins_;  ///< of the intervals, and of an interval after the last
  std::string cut_;
};

}  // namespace bench
