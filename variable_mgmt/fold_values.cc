#include "variable_mgmt/fold_values.h"

#include <cmath>

#include "models/base/errors.h"

namespace bench {
namespace {

using Vector = std::vector<float>;

/// Moves a variable's values out of the map. Returns `instead` for every channel if `name` is
/// empty.
Vector take(InitialValues& values, const std::string& name, std::size_t channels, float instead) {
  if (name.empty()) {
    return Vector(channels, instead);
  }
  auto node = values.extract(name);
  check(!node.empty() && node.mapped().size() == channels,
        fmt::format("fold_values: {} has no value per channel", name));
  return std::move(node.mapped());
}

}  // namespace

void fold_values(std::span<const FoldedBatchNorm> folds, InitialValues& values) {
  for (const FoldedBatchNorm& fold : folds) {
    const std::size_t channels = values.at(fold.beta).size();
    const Vector beta = take(values, fold.beta, channels, 0);
    const Vector gamma = take(values, fold.gamma, channels, 1);
    const Vector mean = take(values, fold.mean, channels, 0);
    const Vector variance = take(values, fold.variance, channels, 1);
    const Vector old_bias = take(values, fold.old_bias, channels, 0);
    Vector& weight = values.at(fold.weight);
    const std::size_t per_channel = weight.size() / channels;
    Vector bias(channels);
    for (std::size_t c = 0; c < channels; ++c) {
      const double scale = static_cast<double>(gamma[c]) /
                           std::sqrt(static_cast<double>(variance[c]) + fold.epsilon);
      for (std::size_t i = c * per_channel; i < (c + 1) * per_channel; ++i) {
        weight[i] = static_cast<float>(static_cast<double>(weight[i]) * scale);
      }
      const double centred = static_cast<double>(old_bias[c]) - static_cast<double>(mean[c]);
      bias[c] = static_cast<float>(static_cast<double>(beta[c]) + centred * scale);
    }
    values[fold.bias] = std::move(bias);
  }
}

}  // namespace bench
