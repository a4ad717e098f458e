#include "bench/quantize/quantize_values.h"

#include <algorithm>
#include <cmath>

#include "models/base/errors.h"
#include "models/ops/quantized.h"

namespace bench {

void quantize_values(std::span<const QuantizedWeight> weights, InitialValues& values) {
  for (const QuantizedWeight& weight : weights) {
    const auto found = values.find(weight.weight);
    check(found != values.end(), fmt::format("quantize_values: {} has no value", weight.weight));
    const auto channels = static_cast<std::size_t>(weight.channels);
    const std::size_t per_channel = found->second.size() / channels;
    std::vector<float> scales(channels);
    for (std::size_t c = 0; c < channels; ++c) {
      const std::span channel(found->second.data() + c * per_channel, per_channel);
      float largest = 0;
      for (const float w : channel) {
        largest = std::max(largest, std::abs(w));
      }
      // The device multiplies by this exact number, so the weights are divided by it. A channel of
      // zeros may have any scale.
      scales[c] = largest > 0 ? largest / static_cast<float>(highest_of(DType::s8)) : 1;
      const auto scale = static_cast<double>(scales[c]);
      for (float& w : channel) {
        w = static_cast<float>(std::nearbyint(static_cast<double>(w) / scale));
      }
    }
    values[weight.scales] = std::move(scales);
  }
}

}  // namespace bench
