#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bench {

/// Rewrites a colour JPEG so that a window can be decoded without the rest (jpeg_cutter.h). The
/// result is baseline, and its Huffman tables fit the image. It has a restart marker every second
/// MCU; every third or every one, if that does not divide a row. The coefficients and the markers
/// for applications (Exif, colour profile) stay the same. Data after the image are dropped.
///
/// Returns nothing if the JPEG does not have three components, has more than 2^25 pixels, or
/// libjpeg reports a defect. Use the JPEG as it is then.
std::optional<std::string> rewrite_seekable(std::string_view jpeg);

}  // namespace bench
