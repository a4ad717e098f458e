#include "variable_mgmt/update_check.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/reference_backend.h"

namespace bench {
namespace {

constexpr std::size_t kElements = 256;
constexpr int kUpdates = 2;
// Large, so that of the numbers added up none is lost in the rounding of the others.
constexpr double kRate = 16384;
constexpr double kGradientScale = 0.5;

/// Elements of some variables, one behind the other.
struct Samples {
  std::vector<OptimizerSegment> segments;
  std::vector<double> variables;
  std::vector<double> gradients;
};

/// The distance of the elements that are looked at; odd, so that they fall on different channels.
std::size_t stride_of(std::size_t count) { return count / kElements | 1U; }

template <class Take>
void for_each_sample(std::span<const float> tensor, const Take& take) {
  for (std::size_t i = 0; i < tensor.size(); i += stride_of(tensor.size())) {
    take(static_cast<double>(tensor[i]));
  }
}

Samples take_samples(Executor& executor, const InitialValues& values) {
  Samples samples;
  std::vector<float> gradient;
  for (const Variable& variable : executor.graph().variables()) {
    if (!variable.trainable) {
      continue;
    }
    const std::string& name = executor.graph().value(variable.value).name;
    const std::size_t offset = samples.variables.size();
    for_each_sample(values.at(name), [&](double w) { samples.variables.push_back(w); });
    gradient = executor.read_gradient(name, std::move(gradient));
    for_each_sample(gradient, [&](double g) { samples.gradients.push_back(g); });
    samples.segments.push_back({.offset = offset,
                                .count = samples.variables.size() - offset,
                                .decayed = variable.decayed});
  }
  return samples;
}

}  // namespace

double largest_update_difference(Tower& tower, UpdateStrategy& strategy,
                                 const OptimizerSettings& settings, const InitialValues& values) {
  Executor& executor = tower.executor();
  Samples samples = take_samples(executor, values);
  const auto reference = make_reference_backend();
  OptimizerSettings wide = settings;
  wide.dtype = DType::f64;
  const auto optimizer = reference->make_optimizer(wide, samples.segments);
  const auto stream = reference->make_stream();
  std::vector<double> slots(samples.variables.size());
  std::vector<double> added(samples.variables.size());
  const auto add_magnitudes = [&] {
    for (std::size_t i = 0; i < added.size(); ++i) {
      const double gradient = kGradientScale * std::abs(samples.gradients[i]);
      const double variable = std::abs(samples.variables[i]);
      const double taken = gradient + settings.weight_decay * variable;
      added[i] += variable + kRate * (settings.clip ? std::min(taken, *settings.clip) : taken);
    }
  };
  strategy.reset();
  for (int update = 0; update < kUpdates; ++update) {
    add_magnitudes();
    strategy.update(kRate, kGradientScale);
    optimizer->launch(*stream, samples.variables.data(), samples.gradients.data(), slots.data(),
                      kRate, kGradientScale);
  }
  add_magnitudes();
  double largest = 0;
  std::size_t i = 0;
  std::vector<float> updated;
  for (const Variable& variable : executor.graph().variables()) {
    if (!variable.trainable) {
      continue;
    }
    updated =
        executor.read_variable(executor.graph().value(variable.value).name, std::move(updated));
    for_each_sample(updated, [&](double w) {
      const double difference = std::abs(w - samples.variables[i]);
      const double bound = largest * added[i];
      // What is not a number stays, and does not count as small.
      largest = difference <= bound || std::isnan(largest) ? largest : difference / added[i];
      ++i;
    });
  }
  return largest;
}

}  // namespace bench
