#include "bench/verify/update_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "kernels/reference/reference_backend.h"
#include "models/base/half.h"

namespace bench {
namespace {

constexpr std::size_t kElements = 256;
constexpr double kLossScale = 2;
constexpr double kNudge = 0x1p-20;
// The rates are large, so that no term is lost in the rounding of the others. No value occurs
// twice, so that every part of a rule is visible.
constexpr std::array kUpdates{StepParameters{.learning_rate = 16384, .gradient_scale = 0.5},
                              StepParameters{.learning_rate = 8192, .gradient_scale = 0.125}};
constexpr StepParameters kUpdateWithout{.learning_rate = 4096, .gradient_scale = 0.25};

/// The step parameters of the updates, in order.
struct Updates {
  std::vector<StepParameters> parameters;
  /// The number of updates before the first gradients.
  std::size_t without = 0;
  /// An update's gradients were computed with the variables before the last `lag` updates, or with
  /// the first ones.
  std::size_t lag = 0;
  /// In this update, gradients are larger by kNudge times what was added up in them.
  std::optional<std::size_t> nudged = {};
};

Updates updates_of(const StrategySettings& settings) {
  Updates updates{.parameters = {kUpdates.begin(), kUpdates.end()}};
  if (settings.relaxed || settings.staged) {
    updates.parameters.insert(updates.parameters.begin(), kUpdateWithout);
    updates.without = 1;
    updates.lag = settings.relaxed ? 1 : 2;
  }
  return updates;
}

/// Sampled elements of some variables, concatenated.
struct Samples {
  std::vector<OptimizerSegment> segments;
  std::vector<double> variables;
  std::vector<double> gradients;
  /// For each gradient, the sum of the magnitudes of its terms, with the gradient's sign.
  std::vector<double> added = {};
};

/// Elements of variables with sparse gradients that are sampled too: one of each row that a tower
/// wrote. By the variable's name.
using RowSamples = std::map<std::string, std::vector<std::size_t>>;

RowSamples row_samples(Towers& towers) {
  RowSamples samples;
  for (int number = 0; number < towers.size(); ++number) {
    const Executor& executor = towers[number].executor();
    for (std::size_t i = 0; i < executor.segments().size(); ++i) {
      const std::size_t row = executor.segments()[i].sparse_row;
      if (row == 0) {
        continue;
      }
      for (const std::int32_t id : executor.sparse_rows(i)) {
        const auto at = static_cast<std::size_t>(id);
        samples[executor.segment_name(i)].push_back(at * row + at % row);
      }
    }
  }
  return samples;
}

/// Calls take(element) for the samples of a variable's tensor.
template <class Take>
void for_each_sample(const OptimizerRule& rule, const Variable& variable,
                     std::span<const float> tensor, std::span<const std::size_t> rows,
                     const Take& take) {
  // An odd distance, so that samples are on different channels.
  std::size_t stride = tensor.size() / kElements | 1U;
  if (std::holds_alternative<LarsRule>(rule) && variable.decayed()) {
    // Its update depends on all elements of the variable.
    constexpr std::size_t kMostForNorms = std::size_t{1} << 20U;
    if (tensor.size() > kMostForNorms) {
      return;
    }
    stride = 1;
  }
  for (std::size_t i = 0; i < tensor.size(); i += stride) {
    take(static_cast<double>(tensor[i]));
  }
  for (const std::size_t i : rows) {
    take(static_cast<double>(tensor[i]));
  }
}

std::span<const std::size_t> rows_of(const RowSamples& rows, const std::string& variable) {
  const auto found = rows.find(variable);
  return found == rows.end() ? std::span<const std::size_t>() : found->second;
}

float rounded(float value, DType dtype) {
  return dtype == DType::bf16 ? widen(narrow_to_bfloat16(value)) : widen(narrow_to_float16(value));
}

/// The samples of one tower, with the gradients as it sends them.
Samples take_samples(Executor& executor, const InitialValues& values,
                     const StrategySettings& settings, const RowSamples& row_samples) {
  const OptimizerRule& rule = settings.optimizer.rule;
  Samples samples;
  std::vector<float> gradient;
  for (const Variable& variable : executor.graph().variables()) {
    if (!variable.trainable()) {
      continue;
    }
    const std::string& name = executor.graph().value(variable.value).name;
    const std::size_t offset = samples.variables.size();
    const std::span<const std::size_t> rows = rows_of(row_samples, name);
    for_each_sample(rule, variable, values.at(name), rows,
                    [&](double w) { samples.variables.push_back(w); });
    gradient = executor.read_gradient(name, std::move(gradient));
    if (settings.sums.narrow) {
      std::transform(gradient.begin(), gradient.end(), gradient.begin(),
                     [&](float g) { return rounded(g, *settings.sums.narrow); });
    }
    for_each_sample(rule, variable, gradient, rows, [&](double g) {
      samples.gradients.push_back(g);
      samples.added.push_back(g);
    });
    samples.segments.push_back({.offset = offset,
                                .count = samples.variables.size() - offset,
                                .decayed = variable.decayed()});
  }
  return samples;
}

/// The samples with the sums of the gradients of all towers or processes.
Samples joined_samples(std::span<const Samples> all) {
  Samples joined = all.front();
  for (std::size_t i = 0; i < joined.gradients.size(); ++i) {
    double added = std::abs(joined.added[i]);
    for (const Samples& samples : all.subspan(1)) {
      joined.gradients[i] += samples.gradients[i];
      added += std::abs(samples.added[i]);
    }
    joined.added[i] = std::copysign(added, joined.gradients[i]);
  }
  return joined;
}

/// Every worker's samples, by rank.
std::vector<Samples> samples_of_workers(const Samples& own, World& world) {
  const std::size_t bytes = own.gradients.size() * sizeof(double);
  std::string text(2 * bytes, '\0');
  std::memcpy(text.data(), own.gradients.data(), bytes);
  std::memcpy(text.data() + bytes, own.added.data(), bytes);
  std::vector<Samples> workers;
  for (const std::string& received : world.gather(text)) {
    check(received.size() == text.size(), "the processes have different variables");
    workers.push_back(own);
    std::memcpy(workers.back().gradients.data(), received.data(), bytes);
    std::memcpy(workers.back().added.data(), received.data() + bytes, bytes);
  }
  return workers;
}

/// The samples of each update of a step, which are made in this order.
std::vector<Samples> samples_of_step(std::span<const Samples> towers, World* world, bool served) {
  std::vector<Samples> samples{joined_samples(towers)};
  if (world == nullptr) {
    return samples;
  }
  samples = samples_of_workers(samples.front(), *world);
  return served ? samples : std::vector{joined_samples(samples)};
}

/// The samples' variables before the updates and after each.
using Course = std::vector<std::vector<double>>;

Course reference_course(std::span<const Samples> step, OptimizerSettings settings,
                        const Updates& updates) {
  const Samples& first = step.front();
  settings.dtype = DType::f64;
  const auto reference = make_reference_backend();
  const auto optimizer = reference->make_optimizer(settings, first.segments);
  const auto stream = reference->make_stream();
  std::vector<std::vector<double>> slots(row_of(settings.rule).slots(),
                                         std::vector<double>(first.variables.size()));
  std::vector<void*> places;
  for (std::vector<double>& slot : slots) {
    places.push_back(slot.data());
  }
  StepState state;
  state.set_loss_scale(kLossScale);
  optimizer->reset(*stream, places, &state);
  Course course{first.variables};
  const std::vector<double> none(first.gradients.size());
  for (std::size_t i = 0; i < updates.parameters.size(); ++i) {
    const std::vector<double> decaying =
        i < updates.without ? none : course[i - std::min(i, updates.lag)];
    course.push_back(course.back());
    state.parameters = updates.parameters[i];
    for (const Samples& samples : step) {
      std::vector<double> gradients = i < updates.without ? none : samples.gradients;
      if (i >= updates.without && i == updates.nudged) {
        for (std::size_t j = 0; j < gradients.size(); ++j) {
          gradients[j] += kNudge * samples.added[j];
        }
      }
      optimizer->launch(*stream,
                        {.variables = course.back().data(),
                         .gradients = gradients.data(),
                         .decaying = decaying.data(),
                         .slots = places},
                        &state);
    }
  }
  stream->synchronize();
  return course;
}

/// The magnitude of what was added up in each variable: its values, and the effects of each
/// gradient and of the decay. An effect is the change at the end, relative to the change of the
/// cause. If causes cancel each other, rounding weighs more than their sum shows. If a rule divides
/// by their size, it weighs less.
std::vector<double> magnitudes(std::span<const Samples> step, const OptimizerSettings& settings,
                               const Updates& updates, const Course& course) {
  std::vector<double> sums(step.front().variables.size());
  for (const std::vector<double>& variables : course) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += std::abs(variables[i]);
    }
  }
  const auto add_share = [&](const OptimizerSettings& nudged, const Updates& moving) {
    const Course moved = reference_course(step, nudged, moving);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += std::abs(moved.back()[i] - course.back()[i]) / kNudge;
    }
  };
  for (std::size_t i = 0; i < updates.parameters.size(); ++i) {
    Updates moving = updates;
    moving.nudged = i;
    add_share(settings, moving);
  }
  OptimizerSettings nudged = settings;
  nudged.weight_decay *= 1 + kNudge;
  add_share(nudged, updates);
  return sums;
}

/// True if a variable's copies are the rounded variable.
bool has_the_right_copies(Executor& executor, const std::string& name,
                          std::span<const float> variable) {
  const std::vector<Executor::Copy> copies = executor.read_copies(name);
  return std::all_of(copies.begin(), copies.end(), [&](const Executor::Copy& copy) {
    return std::equal(
        variable.begin(), variable.end(), copy.values.begin(), copy.values.end(),
        [&](float wide, float narrow) { return rounded(wide, copy.dtype) == narrow; });
  });
}

/// A copy of the gradients, for updates that add them up in place.
class KeptGradients {
 public:
  explicit KeptGradients(Tower& tower) : tower_(tower), gradients_(tower.executor().gradients()) {
    kept_ = tower.backend().allocate(std::max<std::size_t>(gradients_.bytes, 1));
    tower_.stream().copy(gradients_.data, kept_->data(), gradients_.bytes);
    tower_.wait();
  }
  void put_back() { tower_.stream().copy(kept_->data(), gradients_.data, gradients_.bytes); }

 private:
  Tower& tower_;
  TensorView gradients_;
  std::unique_ptr<DeviceMemory> kept_;
};

/// Runs one tower's part of the updates.
void update(Tower& tower, UpdateStrategy& strategy, const StrategySettings& settings,
            const Updates& updates) {
  KeptGradients gradients(tower);
  tower.set_loss_scale(kLossScale);
  strategy.reset();
  std::vector<StepParameters> parameters = updates.parameters;
  if (settings.staged) {
    // With staged variables, another update reveals the variables of the last one.
    parameters.push_back(kUpdateWithout);
  }
  for (const StepParameters& each : parameters) {
    gradients.put_back();
    tower.set_parameters(each);
    tower.upload_parameters();
    strategy.update();
    strategy.watch();
    tower.wait();
  }
}

/// The difference between a tower's variables and the wanted ones, as a fraction of what was added
/// up.
double difference_of(Executor& executor, const OptimizerRule& rule, const RowSamples& row_samples,
                     std::span<const double> wanted, std::span<const double> added) {
  double largest = 0;
  std::size_t i = 0;
  std::vector<float> updated;
  for (const Variable& variable : executor.graph().variables()) {
    if (!variable.trainable()) {
      continue;
    }
    const std::string& name = executor.graph().value(variable.value).name;
    updated = executor.read_variable(name, std::move(updated));
    for_each_sample(rule, variable, updated, rows_of(row_samples, name), [&](double w) {
      const double difference = std::abs(w - wanted[i]);
      const double bound = largest * added[i];
      // A NaN stays and does not count as small.
      largest = difference <= bound || std::isnan(largest) ? largest : difference / added[i];
      ++i;
    });
    if (!has_the_right_copies(executor, name, updated)) {
      largest = std::numeric_limits<double>::infinity();
    }
  }
  return largest;
}

}  // namespace

double largest_update_difference(Towers& towers, const StrategySettings& settings, bool joined,
                                 const InitialValues& values, World* world) {
  const auto count = static_cast<std::size_t>(towers.size());
  const Updates updates = updates_of(settings);
  std::vector<Samples> samples(count);
  const RowSamples rows = row_samples(towers);
  towers.run([&](int number) {
    Tower& tower = towers[number];
    samples[static_cast<std::size_t>(number)] =
        take_samples(tower.executor(), values, settings, rows);
    if (count > 1) {
      // A lone tower has them from the previous check.
      tower.write_variables(values);
    }
  });
  towers.run(
      [&](int number) { update(towers[number], *towers.update(number), settings, updates); });
  std::vector<Samples> step;
  if (joined) {
    step = samples_of_step(samples, world, settings.served);
  }
  std::vector<double> differences(count);
  towers.run([&](int number) {
    const auto place = static_cast<std::size_t>(number);
    const std::span<const Samples> used =
        joined ? std::span<const Samples>(step) : std::span(samples).subspan(place, 1);
    const Course course = reference_course(used, settings.optimizer, updates);
    const std::vector<double> added = magnitudes(used, settings.optimizer, updates, course);
    differences[place] = difference_of(towers[number].executor(), settings.optimizer.rule, rows,
                                       course.back(), added);
  });
  // A NaN counts as the largest.
  return *std::max_element(differences.begin(), differences.end(), [](double a, double b) {
    return !std::isnan(a) && (std::isnan(b) || a < b);
  });
}

}  // namespace bench
