#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bench {

/// Rewrites a colour JPEG so that a window can be decoded without the rest (jpeg_cutter.h). The
/// result is baseline, with a restart marker about every second MCU and Huffman tables that fit the
/// image. The coefficients and the file's other data (Exif, colour profile) stay the same. Returns
/// nothing if the image does not have three components, or if libjpeg warns of a defect. Throws
/// DataError with the reason, but without the file, if the JPEG is incomplete.
std::optional<std::string> rewrite_seekable(std::string_view jpeg);

}  // namespace bench
