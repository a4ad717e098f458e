#include "pipeline/stages/color_distortion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace bench {
namespace {

constexpr std::size_t kChannels = 3;
constexpr float kLargest = 255;
using Pixel = std::array<float, kChannels>;
using Matrix = std::array<std::array<double, kChannels>, kChannels>;

constexpr Matrix kYiqOfRgb{
    {{0.299, 0.587, 0.114}, {0.596, -0.274, -0.322}, {0.211, -0.523, 0.312}}};

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result{};
  for (std::size_t i = 0; i < kChannels; ++i) {
    for (std::size_t j = 0; j < kChannels; ++j) {
      for (std::size_t k = 0; k < kChannels; ++k) {
        result[i][j] += a[i][k] * b[k][j];
      }
    }
  }
  return result;
}

Matrix inverse(const Matrix& m) {
  // Rows of cofactors: indices are cyclic.
  Matrix result{};
  double determinant = 0;
  for (std::size_t i = 0; i < kChannels; ++i) {
    for (std::size_t j = 0; j < kChannels; ++j) {
      const std::size_t a = (i + 1) % kChannels;
      const std::size_t b = (i + 2) % kChannels;
      const std::size_t c = (j + 1) % kChannels;
      const std::size_t d = (j + 2) % kChannels;
      result[j][i] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
    }
    determinant += m[0][i] * result[i][0];
  }
  for (auto& row : result) {
    for (double& element : row) {
      element /= determinant;
    }
  }
  return result;
}

/// Rotates and scales the chrominance: I and Q.
void change_in_yiq(std::span<float> pixels, const ColorDistortion& distortion) {
  const double angle = 2 * std::numbers::pi * static_cast<double>(distortion.hue);
  const double u = static_cast<double>(distortion.saturation) * std::cos(angle);
  const double w = static_cast<double>(distortion.saturation) * std::sin(angle);
  const Matrix change{{{1, 0, 0}, {0, u, -w}, {0, w, u}}};
  const Matrix all = product(inverse(kYiqOfRgb), product(change, kYiqOfRgb));
  for (std::size_t i = 0; i < pixels.size(); i += kChannels) {
    const Pixel in{pixels[i], pixels[i + 1], pixels[i + 2]};
    for (std::size_t c = 0; c < kChannels; ++c) {
      pixels[i + c] = static_cast<float>(all[c][0]) * in[0] +
                      static_cast<float>(all[c][1]) * in[1] + static_cast<float>(all[c][2]) * in[2];
    }
  }
}

/// Hue in sixths of a turn, in [0, 6), by which channels are the largest and the smallest.
float hue_of(const Pixel& pixel, float largest, float range) {
  if (range <= 0) {
    return 0;
  }
  const auto [red, green, blue] = pixel;
  const float hue = red == largest     ? (green - blue) / range
                    : green == largest ? (blue - red) / range + 2
                                       : (red - green) / range + 4;
  return hue < 0 ? hue + 6 : hue;
}

/// The pixel with that hue, largest value and range of values.
Pixel pixel_of(float hue, float largest, float range) {
  Pixel pixel{};
  // Each channel is largest at its own hue, and falls to the smallest within two sixths.
  constexpr Pixel kOwnHue{0, 2, 4};
  for (std::size_t c = 0; c < kChannels; ++c) {
    const float away = std::abs(hue - kOwnHue[c]);
    const float distance = std::min(away, 6 - away);
    pixel[c] = largest - range * std::clamp(distance - 1, 0.0F, 1.0F);
  }
  return pixel;
}

void change_in_hsv(std::span<float> pixels, const ColorDistortion& distortion) {
  for (std::size_t i = 0; i < pixels.size(); i += kChannels) {
    const Pixel in{pixels[i], pixels[i + 1], pixels[i + 2]};
    const float largest = std::ranges::max(in);
    float range = largest - std::ranges::min(in);
    float hue = hue_of(in, largest, range) + 6 * distortion.hue;
    hue -= 6 * std::floor(hue / 6);
    const float saturation =
        largest > 0 ? std::clamp(range / largest * distortion.saturation, 0.0F, 1.0F) : 0;
    range = saturation * largest;
    std::ranges::copy(pixel_of(hue, largest, range),
                      pixels.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void change_contrast(std::span<float> pixels, float factor) {
  std::array<double, kChannels> sums{};
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    sums[i % kChannels] += static_cast<double>(pixels[i]);
  }
  const std::size_t area = pixels.size() / kChannels;
  Pixel means{};
  for (std::size_t c = 0; c < kChannels; ++c) {
    means[c] = static_cast<float>(sums[c] / static_cast<double>(area));
  }
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const float mean = means[i % kChannels];
    pixels[i] = (pixels[i] - mean) * factor + mean;
  }
}

/// Uniform in [low, high).
float between(RandomStream& random, float low, float high) {
  return low + (high - low) * random.uniform();
}

}  // namespace

ColorDistortion draw_color_distortion(RandomStream& random, bool yiq, bool even) {
  // In YIQ, tf_cnn_benchmarks turns the hue by up to 0.2 * pi.
  const float turn = yiq ? 0.1F : 0.2F;
  ColorDistortion distortion{.contrast_last = even, .yiq = yiq};
  distortion.brightness = between(random, -32.0F / kLargest, 32.0F / kLargest);
  distortion.saturation = between(random, 0.5F, 1.5F);
  distortion.hue = between(random, -turn, turn);
  distortion.contrast = between(random, 0.5F, 1.5F);
  return distortion;
}

void distort_colors(std::span<float> pixels, const ColorDistortion& distortion) {
  for (float& value : pixels) {
    value = value / kLargest + distortion.brightness;
  }
  if (!distortion.contrast_last) {
    change_contrast(pixels, distortion.contrast);
  }
  if (distortion.yiq) {
    change_in_yiq(pixels, distortion);
  } else {
    change_in_hsv(pixels, distortion);
  }
  if (distortion.contrast_last) {
    change_contrast(pixels, distortion.contrast);
  }
  for (float& value : pixels) {
    value = std::clamp(value, 0.0F, 1.0F) * kLargest;
  }
}

}  // namespace bench
