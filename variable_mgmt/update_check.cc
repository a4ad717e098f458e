#include "variable_mgmt/update_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/reference/reference_backend.h"
#include "models/base/half.h"

namespace bench {
namespace {

constexpr std::size_t kElements = 256;
constexpr std::size_t kCount = 2;
constexpr double kLossScale = 2;
using Updates = std::array<StepOrders, kCount>;
// Large rates, so that of the numbers added up none is lost in the rounding of the others; and
// nothing twice, so that everything in a rule shows.
constexpr Updates kUpdates{StepOrders{.learning_rate = 16384, .gradient_scale = 0.5},
                           StepOrders{.learning_rate = 8192, .gradient_scale = 0.125}};

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
    if (!variable.trainable()) {
      continue;
    }
    const std::string& name = executor.graph().value(variable.value).name;
    const std::size_t offset = samples.variables.size();
    for_each_sample(values.at(name), [&](double w) { samples.variables.push_back(w); });
    gradient = executor.read_gradient(name, std::move(gradient));
    for_each_sample(gradient, [&](double g) { samples.gradients.push_back(g); });
    samples.segments.push_back({.offset = offset,
                                .count = samples.variables.size() - offset,
                                .decayed = variable.decayed()});
  }
  return samples;
}

/// What the samples' variables are before the updates and after each.
using Course = std::array<std::vector<double>, kCount + 1>;

Course reference_course(const Samples& samples, OptimizerSettings settings,
                        const Updates& updates) {
  settings.dtype = DType::f64;
  const auto reference = make_reference_backend();
  const auto optimizer = reference->make_optimizer(settings, samples.segments);
  const auto stream = reference->make_stream();
  std::vector<std::vector<double>> slots(row_of(settings.rule).slots(),
                                         std::vector<double>(samples.variables.size()));
  std::vector<void*> places;
  for (std::vector<double>& slot : slots) {
    places.push_back(slot.data());
  }
  StepState state;
  state.set_loss_scale(kLossScale);
  optimizer->reset(*stream, places, &state);
  Course course;
  course[0] = samples.variables;
  for (std::size_t i = 0; i < kCount; ++i) {
    course[i + 1] = course[i];
    state.orders = updates[i];
    optimizer->launch(
        *stream,
        {.variables = course[i + 1].data(), .gradients = samples.gradients.data(), .slots = places},
        &state);
  }
  stream->synchronize();
  return course;
}

/// What was added up in each variable: its values, and what it owes to each gradient and to the
/// decay. The latter is how far the end moves, over how far they did: where they cancel each other,
/// rounding weighs more than the sum shows, and where a rule divides by their size, less.
std::vector<double> magnitudes(const Samples& samples, const OptimizerSettings& settings,
                               const Course& course) {
  std::vector<double> sums(samples.variables.size());
  for (const std::vector<double>& variables : course) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += std::abs(variables[i]);
    }
  }
  constexpr double kNudge = 0x1p-20;
  const auto add_share = [&](const OptimizerSettings& nudged, const Updates& updates) {
    const Course moved = reference_course(samples, nudged, updates);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += std::abs(moved.back()[i] - course.back()[i]) / kNudge;
    }
  };
  for (std::size_t i = 0; i < kCount; ++i) {
    Updates updates = kUpdates;
    updates[i].gradient_scale *= 1 + kNudge;
    add_share(settings, updates);
  }
  OptimizerSettings nudged = settings;
  nudged.weight_decay *= 1 + kNudge;
  add_share(nudged, kUpdates);
  return sums;
}

float rounded(float value, DType dtype) {
  return dtype == DType::bf16 ? widen(narrow_to_bfloat16(value)) : widen(narrow_to_float16(value));
}

/// Whether a variable's copies are the variable, rounded.
bool has_the_right_copies(Executor& executor, const std::string& name,
                          std::span<const float> variable) {
  const std::vector<Executor::Copy> copies = executor.read_copies(name);
  return std::all_of(copies.begin(), copies.end(), [&](const Executor::Copy& copy) {
    return std::equal(
        variable.begin(), variable.end(), copy.values.begin(), copy.values.end(),
        [&](float wide, float narrow) { return rounded(wide, copy.dtype) == narrow; });
  });
}

}  // namespace

double largest_update_difference(Tower& tower, UpdateStrategy& strategy,
                                 const OptimizerSettings& settings, const InitialValues& values) {
  Executor& executor = tower.executor();
  const Samples samples = take_samples(executor, values);
  tower.set_loss_scale(kLossScale);
  strategy.reset();
  for (const StepOrders& update : kUpdates) {
    tower.set_orders(update);
    tower.upload_orders();
    strategy.update();
    tower.wait();
  }
  const Course course = reference_course(samples, settings, kUpdates);
  const std::vector<double> added = magnitudes(samples, settings, course);
  double largest = 0;
  std::size_t i = 0;
  std::vector<float> updated;
  for (const Variable& variable : executor.graph().variables()) {
    if (!variable.trainable()) {
      continue;
    }
    updated =
        executor.read_variable(executor.graph().value(variable.value).name, std::move(updated));
    for_each_sample(updated, [&](double w) {
      const double difference = std::abs(w - course.back()[i]);
      const double bound = largest * added[i];
      // What is not a number stays, and does not count as small.
      largest = difference <= bound || std::isnan(largest) ? largest : difference / added[i];
      ++i;
    });
    if (!has_the_right_copies(executor, executor.graph().value(variable.value).name, updated)) {
      largest = std::numeric_limits<double>::infinity();
    }
  }
  return largest;
}

}  // namespace bench
