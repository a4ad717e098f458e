#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "pipeline/formats/rgbx_image.h"

namespace bench {

/// The inverse DCT: accurate, or fast as TensorFlow decodes.
enum class DctMethod : std::uint8_t { accurate, fast };

/// The header of a JPEG.
struct JpegHeader {
  int width = 0;
  int height = 0;
  int components = 0;  ///< as stored: 1 grey, 3 colour, 4 CMYK
};

/// Decodes windows of JPEG images through libjpeg-turbo. One decoder serves one thread and reuses
/// its memory. Every failure is a DataError that gives the reason but neither file nor offset.
class JpegDecoder {
 public:
  /// Larger images are refused before anything is allocated for them.
  static constexpr std::int64_t kMostPixels = std::int64_t{1} << 27U;
  /// The same for images in several scans (progressive ones, for example): libjpeg keeps all their
  /// coefficients in memory, up to 6 bytes per pixel.
  static constexpr std::int64_t kMostPixelsInScans = std::int64_t{1} << 25U;

  /// `most_pixels` replaces both limits.
  explicit JpegDecoder(DctMethod dct, std::optional<std::int64_t> most_pixels = {});
  ~JpegDecoder();
  JpegDecoder(JpegDecoder&&) = delete;
  JpegDecoder& operator=(JpegDecoder&&) = delete;

  /// Opens an image, which must stay alive until decode(). Throws if it is not a JPEG, is
  /// truncated, or is too large.
  JpegHeader open(std::string_view jpeg);

  /// Returns the pixels of a window of the opened image, equal to the same window of the whole
  /// decoded image. For a seekable image, it
  /// decodes only the intervals that the window touches. Grey is
  /// expanded; CMYK and YCCK are converted, including Adobe's inverted inks. The result is valid
  /// until the next open(). `wanted` must be within the image and not empty. Call it once per
  /// open().
  RgbxView decode(const PixelWindow& wanted);

  /// The number of libjpeg's warnings about pixels that it decoded anyway, since construction.
  [[nodiscard]] std::int64_t warnings() const;
  /// The number of seekable images (jpeg_cutter.h) that were decoded.
  [[nodiscard]] std::int64_t seekable() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The window of an image that decoder.open() has opened. If `fused`, only the window is decoded,
/// else the whole image; the pixels are the same.
RgbxView decode_window(JpegDecoder& decoder, const JpegHeader& header, const PixelWindow& window,
                       bool fused);

}  // namespace bench
