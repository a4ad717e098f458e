#pragma once

#include <array>
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

/// The samples of a component, relative to those of the others: 1 to 4 across and down.
struct JpegSampling {
  int across = 1;
  int down = 1;
};

struct JpegEncoding {
  int quality = 95;  ///< 1 to 100
  /// The components are luma, blue and red chroma; only for RGB. The default is 4:2:0.
  std::array<JpegSampling, 3> sampling{{{2, 2}, {1, 1}, {1, 1}}};
  bool progressive = false;
};

/// Encodes the image as a JPEG file. Throws UsageError if `source` has no pixels or a wrong size.
std::string encode_jpeg(const JpegSource& source, const JpegEncoding& encoding = {});

}  // namespace bench
