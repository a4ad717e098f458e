#include "pipeline/stages/antialiased_resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "models/base/errors.h"

namespace bench {
namespace {

/// The bits after the point of a weight. Two bits are left for sums beyond 255, as cubics have.
constexpr int kFraction = 22;
constexpr int kChannels = 3;

double support_of(ResizeFilter filter) { return filter == ResizeFilter::cubic ? 2 : 1; }

double weight_of(ResizeFilter filter, double distance) {
  const double x = std::abs(distance);
  if (filter == ResizeFilter::triangle) {
    return x < 1 ? 1 - x : 0;
  }
  constexpr double kA = -0.5;
  if (x < 1) {
    return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  }
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * kA : 0;
}

std::uint8_t rounded(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kFraction, 0, 255));
}

}  // namespace

FixedTaps antialiased_taps(const AxisResize& axis, ResizeFilter filter) {
  check(axis.from > 0 && axis.to > 0 && axis.begin >= 0 && axis.begin + axis.count <= axis.to,
        "an antialiased resize needs outputs within its axis");
  FixedTaps taps;
  if (axis.from == axis.to) {
    for (int i = 0; i < axis.count; ++i) {
      taps.outputs.push_back({.begin = axis.begin + i, .count = 1, .weights = 0});
    }
    taps.weights = {1 << kFraction};
    return taps;
  }
  const double scale = static_cast<double>(axis.from) / axis.to;
  const double filter_scale = std::max(scale, 1.0);
  const double support = support_of(filter) * filter_scale;
  std::vector<double> weights;
  for (int i = axis.begin; i < axis.begin + axis.count; ++i) {
    const double centre = (i + 0.5) * scale;
    const int begin = std::max(static_cast<int>(std::floor(centre - support + 0.5)), 0);
    const int end = std::min(static_cast<int>(std::floor(centre + support + 0.5)), axis.from);
    weights.clear();
    double sum = 0;
    for (int x = begin; x < end; ++x) {
      weights.push_back(weight_of(filter, (x - centre + 0.5) * (1 / filter_scale)));
      sum += weights.back();
    }
    taps.outputs.push_back({.begin = begin, .count = end - begin, .weights = taps.weights.size()});
    for (const double weight : weights) {
      const double scaled = (sum == 0 ? weight : weight / sum) * (1 << kFraction);
      // Half away from zero.
      taps.weights.push_back(static_cast<std::int32_t>(scaled + (scaled < 0 ? -0.5 : 0.5)));
    }
  }
  return taps;
}

std::span<const std::uint8_t> AntialiasedResizer::run(const RgbxView& source,
                                                      const FixedTaps& columns,
                                                      const FixedTaps& rows) {
  check(!columns.outputs.empty() && !rows.outputs.empty() && columns.lowest() >= 0 &&
            rows.lowest() >= 0 && columns.highest() < source.width &&
            rows.highest() < source.height,
        "the taps of an antialiased resize must be inside the source");
  constexpr std::int32_t kHalf = 1 << (kFraction - 1);
  const std::size_t width = columns.outputs.size() * kChannels;
  const int first_row = rows.lowest();
  const int row_count = rows.highest() - first_row + 1;
  wide_.resize(width * static_cast<std::size_t>(row_count));
  for (int y = 0; y < row_count; ++y) {
    const std::uint32_t* const pixels = source.row(first_row + y);
    std::uint8_t* out = wide_.data() + width * static_cast<std::size_t>(y);
    for (const FixedTaps::Output& output : columns.outputs) {
      std::int32_t red = kHalf;
      std::int32_t green = kHalf;
      std::int32_t blue = kHalf;
      for (int i = 0; i < output.count; ++i) {
        const std::uint32_t pixel = pixels[output.begin + i];
        const std::int32_t weight = columns.weights[output.weights + static_cast<std::size_t>(i)];
        red += weight * static_cast<std::int32_t>(channel_of(pixel, 0));
        green += weight * static_cast<std::int32_t>(channel_of(pixel, 1));
        blue += weight * static_cast<std::int32_t>(channel_of(pixel, 2));
      }
      *out++ = rounded(red);
      *out++ = rounded(green);
      *out++ = rounded(blue);
    }
  }
  result_.resize(width * rows.outputs.size());
  std::uint8_t* out = result_.data();
  for (const FixedTaps::Output& output : rows.outputs) {
    sums_.assign(width, kHalf);
    for (int i = 0; i < output.count; ++i) {
      const std::uint8_t* const row =
          wide_.data() + width * static_cast<std::size_t>(output.begin + i - first_row);
      const std::int32_t weight = rows.weights[output.weights + static_cast<std::size_t>(i)];
      for (std::size_t x = 0; x < width; ++x) {
        sums_[x] += weight * row[x];
      }
    }
    out = std::transform(sums_.begin(), sums_.end(), out, rounded);
  }
  return result_;
}

}  // namespace bench
