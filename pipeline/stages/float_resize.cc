#include "pipeline/stages/float_resize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::size_t kChannels = 3;
constexpr std::size_t kBytes = 4;  ///< of a pixel, the last without meaning

/// Keys' cubic, for a distance of less than 2.
float cubic_weight(float distance) {
  constexpr float kA = -0.75F;
  const float x = std::abs(distance);
  return x < 1 ? ((kA + 2) * x - (kA + 3)) * x * x + 1
               : ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA;
}

/// Adds the weight of a source position to the output that was appended last. Positions come in
/// ascending order and may repeat.
void add_weight(FloatTaps& taps, int position, float weight) {
  FloatTaps::Output& output = taps.outputs.back();
  if (output.count > 0 && output.begin + output.count - 1 == position) {
    taps.weights.back() += weight;
    return;
  }
  if (output.count == 0) {
    output.begin = position;
  }
  ++output.count;
  taps.weights.push_back(weight);
}

void add_output(FloatTaps& taps) { taps.outputs.push_back({.weights = taps.weights.size()}); }

}  // namespace

FloatTaps bicubic_taps(const AxisResize& axis) {
  constexpr float kSteps = 1024;
  const float scale = static_cast<float>(axis.from) / static_cast<float>(axis.to);
  FloatTaps taps;
  for (int i = axis.begin; i < axis.begin + axis.count; ++i) {
    const float position = static_cast<float>(i) * scale;
    const int first = static_cast<int>(position);
    const float distance =
        static_cast<float>(std::lrint((position - static_cast<float>(first)) * kSteps)) / kSteps;
    add_output(taps);
    for (int k = -1; k <= 2; ++k) {
      add_weight(taps, std::clamp(first + k, 0, axis.from - 1),
                 cubic_weight(distance - static_cast<float>(k)));
    }
  }
  return taps;
}

FloatTaps area_taps(const AxisResize& axis) {
  const float scale = static_cast<float>(axis.from) / static_cast<float>(axis.to);
  FloatTaps taps;
  for (int i = axis.begin; i < axis.begin + axis.count; ++i) {
    const float begin = static_cast<float>(i) * scale;
    const float end = static_cast<float>(i + 1) * scale;
    add_output(taps);
    for (int k = static_cast<int>(std::floor(begin)); static_cast<float>(k) < end; ++k) {
      const float covered =
          std::min(static_cast<float>(k + 1), end) - std::max(static_cast<float>(k), begin);
      add_weight(taps, std::clamp(k, 0, axis.from - 1), covered / scale);
    }
  }
  return taps;
}

FloatTaps float_taps(const AxisTaps& axis) {
  FloatTaps taps;
  for (std::size_t i = 0; i < axis.first.size(); ++i) {
    add_output(taps);
    const bool ascending = axis.first[i] <= axis.second[i];
    const float second = axis.weight[i];
    add_weight(taps, ascending ? axis.first[i] : axis.second[i], ascending ? 1 - second : second);
    add_weight(taps, ascending ? axis.second[i] : axis.first[i], ascending ? second : 1 - second);
  }
  return taps;
}

void pack_scaled(std::span<const float> values, const PixelScaling& scaling, SlotLayout layout,
                 float* output) {
  const std::size_t area = values.size() / kChannels;
  const bool planes = layout == SlotLayout::nchw;
  for (std::size_t c = 0; c < kChannels; ++c) {
    const Normalization& channel = scaling.at(c);
    const float factor = 1 / channel.deviation;
    const float subtracted = channel.mean / channel.deviation;
    float* out = planes ? output + c * area : output + c;
    for (std::size_t i = 0; i < area; ++i, out += planes ? 1 : kChannels) {
      *out = values[i * kChannels + c] * factor - subtracted;
    }
  }
}

std::span<float> FloatResizer::run(const RgbxView& source, const FloatTaps& columns,
                                   const FloatTaps& rows) {
  check(!columns.outputs.empty() && !rows.outputs.empty() && columns.lowest() >= 0 &&
            rows.lowest() >= 0 && columns.highest() < source.width &&
            rows.highest() < source.height,
        "the taps of a resize must be inside the source");
  const std::size_t width = kBytes * static_cast<std::size_t>(source.width);
  result_.resize(kChannels * columns.outputs.size() * rows.outputs.size());
  float* out = result_.data();
  for (const FloatTaps::Output& vertical : rows.outputs) {
    row_.assign(width, 0);
    for (int i = 0; i < vertical.count; ++i) {
      const float weight = rows.weights[vertical.weights + static_cast<std::size_t>(i)];
      const auto* const bytes =
          reinterpret_cast<const std::uint8_t*>(source.row(vertical.begin + i));
      for (std::size_t x = 0; x < width; ++x) {
        row_[x] += weight * static_cast<float>(bytes[x]);
      }
    }
    for (const FloatTaps::Output& output : columns.outputs) {
      std::array<float, kBytes> sums{};
      const float* pixel = row_.data() + kBytes * static_cast<std::size_t>(output.begin);
      for (int i = 0; i < output.count; ++i, pixel += kBytes) {
        const float weight = columns.weights[output.weights + static_cast<std::size_t>(i)];
        for (std::size_t c = 0; c < kBytes; ++c) {
          sums[c] += weight * pixel[c];
        }
      }
      out = std::copy_n(sums.begin(), kChannels, out);
    }
  }
  return result_;
}

}  // namespace bench
