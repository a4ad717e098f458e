#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace bench {

/// Interleaved samples to encode: height x width x components bytes, row by row.
struct JpegSource {
  std::span<const std::uint8_t> samples;
  int width = 0;
  int height = 0;
  int components = 3;  ///< 1 grey, 3 RGB, 4 CMYK (inverted, marked as Adobe's)
};

struct JpegEncoding {
  int quality = 95;  ///< 1 to 100
  /// Pixels per chroma sample, across and down: 2 and 2 are 4:2:0, 1 and 1 are 4:4:4. Only for RGB.
  int chroma_across = 2;
  int chroma_down = 2;
  bool progressive = false;
};

/// Encodes the image as a JPEG file. Throws UsageError if `source` has no pixels or a wrong size.
std::string encode_jpeg(const JpegSource& source, const JpegEncoding& encoding = {});

}  // namespace bench
