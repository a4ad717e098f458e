#pragma once

#include <cstddef>
#include <cstdint>

namespace bench {

/// A rectangle of pixels within an image; x to the right, y down.
struct PixelWindow {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  bool operator==(const PixelWindow&) const = default;
};

/// Pixels as 32-bit words: red in the lowest byte, then green, blue, and a byte without meaning.
/// One word per pixel lets vector code gather a whole pixel at once. Owns nothing.
struct RgbxView {
  const std::uint32_t* pixels = nullptr;
  int width = 0;
  int height = 0;
  std::ptrdiff_t stride = 0;  ///< words from one row to the next

  [[nodiscard]] const std::uint32_t* row(int y) const { return pixels + y * stride; }
};

constexpr std::uint32_t rgbx(std::uint32_t red, std::uint32_t green, std::uint32_t blue) {
  return red | green << 8U | blue << 16U;
}

/// The channel (0 red, 1 green, 2 blue) of a pixel, 0 to 255.
constexpr std::uint32_t channel_of(std::uint32_t pixel, int channel) {
  return pixel >> (8 * channel) & 0xFFU;
}

}  // namespace bench
