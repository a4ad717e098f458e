#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "pipeline/formats/rgbx_image.h"

namespace bench {

/// How the inverse DCT is computed: accurately, or as the original's full decode does.
enum class DctMethod : std::uint8_t { accurate, fast };

/// What a JPEG says of itself before its pixels are decoded.
struct JpegHeader {
  int width = 0;
  int height = 0;
  int components = 0;  ///< as stored: 1 grey, 3 colour, 4 CMYK
};

/// Decodes windows of JPEG images through libjpeg-turbo. One decoder serves one thread and reuses
/// its memory. Every failure is a DataError that gives the reason but neither file nor offset.
class JpegDecoder {
 public:
  /// Images of more pixels are refused before anything is allocated for them.
  static constexpr std::int64_t kMostPixels = std::int64_t{1} << 27U;

  explicit JpegDecoder(DctMethod dct);
  ~JpegDecoder();
  JpegDecoder(JpegDecoder&&) = delete;
  JpegDecoder& operator=(JpegDecoder&&) = delete;

  /// Starts on an image, which must stay alive until decode(). Throws when it is no JPEG, is
  /// truncated, or is too large.
  JpegHeader open(std::string_view jpeg);

  /// The pixels of a window of the opened image, equal to the same window of the whole image; grey
  /// is expanded, CMYK and YCCK are converted (Adobe's inverted inks too). Valid until the next
  /// call of open(). `window` lies within the image and is not empty. Call it once per open().
  RgbxView decode(const PixelWindow& window);

  /// Warnings libjpeg gave for pixels that it decoded all the same, over the decoder's life.
  [[nodiscard]] std::int64_t warnings() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
