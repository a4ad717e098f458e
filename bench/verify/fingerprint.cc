#include "bench/verify/fingerprint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "models/ops/moving_average.h"
#include "models/ops/number_range.h"

namespace bench {
namespace {

constexpr std::size_t kImages = 2;
constexpr std::size_t kVariablesPerPart = 16;
// The floor of a variable's norm, as a fraction of the median norm in its part. If only rounding is
// left of a gradient, its size and direction mean nothing.
constexpr double kFloor = 0.05;

/// The random signs with which the numbers of one tensor are added.
class Signs {
 public:
  explicit Signs(std::string_view name) : random_(fingerprint_seed() + 1, hash_name(name)) {}

  double of(double value) {
    constexpr int kBits = 32;
    if (left_ == 0) {
      bits_ = random_.bits();
      left_ = kBits;
    }
    const bool positive = (bits_ & 1U) != 0;
    bits_ >>= 1U;
    --left_;
    return positive ? value : -value;
  }

 private:
  RandomStream random_;
  std::uint32_t bits_ = 0;
  int left_ = 0;
};

/// Sums over one tensor.
struct Sums {
  double squares = 0;
  /// The sum with random signs.
  double sum = 0;
};

Sums sums_of(std::string_view name, std::span<const float> values, double factor = 1) {
  Signs signs(name);
  Sums sums;
  for (const float value : values) {
    const double scaled = factor * static_cast<double>(value);
    sums.squares += scaled * scaled;
    sums.sum += signs.of(scaled);
  }
  return sums;
}

void run_on_two_images(Tower& tower, std::size_t first, const Executor::Observer* observer) {
  const FingerprintBatch batch = fingerprint_batch(tower, first);
  constexpr std::int32_t kNothingDropped = -1;
  batch.write_numbers(tower);
  if (observer != nullptr) {
    tower.run_observed(batch.images, {}, kNothingDropped, *observer);
  } else {
    tower.run_canonical(batch.images, {}, kNothingDropped);
  }
}

/// The mean logits of each image, over all its places in the batch and all runs.
class Logits {
 public:
  void add(Tower& tower, std::size_t first) {
    const std::vector<float> logits = tower.executor().read_output_as_floats("logits");
    const auto batch = static_cast<std::size_t>(tower.examples());
    const std::size_t classes = logits.size() / batch;
    for (std::size_t n = 0; n < batch; ++n) {
      const std::size_t image = (first + n) % kImages;
      sums_.at(image).resize(classes);
      ++rows_.at(image);
      for (std::size_t c = 0; c < classes; ++c) {
        sums_.at(image)[c] += static_cast<double>(logits[n * classes + c]);
        squares_ += static_cast<double>(logits[n * classes + c]) *
                    static_cast<double>(logits[n * classes + c]);
      }
    }
  }

  [[nodiscard]] FingerprintPart part(FingerprintKind kind) const {
    double sum = 0;
    double squares = 0;
    for (std::size_t image = 0; image < kImages; ++image) {
      Signs signs(fmt::format("logits{}", image));
      for (const double total : sums_.at(image)) {
        const double mean = total / static_cast<double>(rows_.at(image));
        sum += signs.of(mean);
        squares += mean * mean;
      }
    }
    const auto rows = static_cast<double>(rows_[0] + rows_[1]);
    return {
        .kind = kind, .size = std::sqrt(squares_ / rows), .direction = sum / std::sqrt(squares)};
  }

 private:
  std::array<std::vector<double>, kImages> sums_;
  std::array<std::size_t, kImages> rows_{};
  double squares_ = 0;
};

/// The factor, besides 1 - decay, by which a variable's moving average multiplies its input. It
/// depends on the batch.
double average_factor(const Graph& graph, const std::string& variable) {
  for (const Graph::Pair& update : graph.updates()) {
    if (graph.value(update.variable).name == variable) {
      const Value& average = graph.value(update.value);
      const Node& node = graph.nodes()[static_cast<std::size_t>(average.producer)];
      const auto position = static_cast<std::size_t>(average.position);
      return node.attributes.as<MovingAverageAttributes>().pairs.at(position).factor;
    }
  }
  throw InternalError(fmt::format("fingerprint: nothing updates {}", variable));
}

bool is_average(FingerprintKind kind) {
  return kind == FingerprintKind::means || kind == FingerprintKind::variances;
}

FingerprintPart combine(std::span<const Sums> variables) {
  std::vector<double> norms;
  for (const Sums& sums : variables) {
    norms.push_back(std::sqrt(sums.squares));
  }
  const auto middle = norms.begin() + static_cast<std::ptrdiff_t>(norms.size() / 2);
  std::nth_element(norms.begin(), middle, norms.end());
  const double floor = kFloor * *middle;
  double log_sum = 0;
  double sum = 0;
  for (const Sums& sums : variables) {
    const double norm = std::sqrt(sums.squares + floor * floor);
    log_sum += std::log(norm);
    sum += norm > 0 ? sums.sum / norm : 0;
  }
  const auto count = static_cast<double>(variables.size());
  return {.size = std::exp(log_sum / count), .direction = sum / std::sqrt(count)};
}

/// Appends the parts of one kind.
void add_parts(FingerprintKind kind, std::span<const Sums> variables,
               std::vector<FingerprintPart>& parts) {
  for (std::size_t first = 0; first < variables.size(); first += kVariablesPerPart) {
    const std::size_t count = std::min(kVariablesPerPart, variables.size() - first);
    FingerprintPart part = combine(variables.subspan(first, count));
    part.kind = kind;
    part.first = static_cast<int>(first + 1);
    part.last = static_cast<int>(first + count);
    parts.push_back(part);
  }
}

/// The numbers that an input can have; the classes, if nothing else limits it.
NumberRange range_of(const Graph& graph, std::string_view input) {
  for (const ValueId value : graph.inputs()) {
    const auto range = graph.value(value).name == input ? number_range(graph, value) : std::nullopt;
    if (range) {
      return *range;
    }
  }
  return {.bound = static_cast<std::uint32_t>(graph.shape(graph.output("logits"))[1])};
}

}  // namespace

FingerprintBatch fingerprint_batch(const Tower& tower, std::size_t first, std::size_t images) {
  const Graph& graph = tower.executor().graph();
  const auto size = static_cast<std::size_t>(tower.examples());
  const auto per_example = [&](std::string_view input) {
    const TensorType* const type = tower.find_input(input);
    return type == nullptr ? 0 : static_cast<std::size_t>(type->shape.elements()) / size;
  };
  const std::size_t pixels = per_example("images");
  FingerprintBatch batch;
  batch.images.resize(size * pixels);
  const std::vector<std::string> inputs = tower.number_inputs();
  std::vector<NumberRange> ranges;
  for (const std::string& input : inputs) {
    const bool whole = tower.find_input(input)->dtype == DType::s32;
    const std::size_t count = size * per_example(input);
    if (whole) {
      batch.numbers[input].resize(count);
    } else {
      batch.reals[input].resize(count);
    }
    ranges.push_back(whole ? range_of(graph, input) : NumberRange());
  }
  for (std::size_t n = 0; n < size; ++n) {
    RandomStream random(fingerprint_seed(),
                        hash_name(fmt::format("image{}", (first + n) % images)));
    const auto fill = [&](auto& values, std::size_t count, const auto& draw) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(n * count);
      if (n >= images) {
        std::copy_n(begin - static_cast<std::ptrdiff_t>(images * count), count, begin);
      } else {
        std::generate_n(begin, count, draw);
      }
    };
    fill(batch.images, pixels, [&] { return random.normal(); });
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const NumberRange range = ranges[i];
      if (range.bound > 0) {
        fill(batch.numbers[inputs[i]], per_example(inputs[i]), [&] { return range.draw(random); });
      } else {
        fill(batch.reals[inputs[i]], per_example(inputs[i]), [&] { return random.normal(); });
      }
    }
  }
  return batch;
}

void FingerprintBatch::write_numbers(Tower& tower) const {
  for (const auto& [input, values] : numbers) {
    tower.write_numbers(input, values);
  }
  for (const auto& [input, values] : reals) {
    tower.write_numbers(input, values);
  }
}

std::string fingerprint_refusal(std::int64_t batch) {
  // With batch norm, the numbers depend on each image's fraction of the batch.
  return batch % static_cast<std::int64_t>(kImages) == 0
             ? ""
             : fmt::format(
                   "the batch size of {} is odd, but each of the fingerprint's two examples needs "
                   "half of the batch",
                   batch);
}

std::vector<FingerprintPart> measure_training_fingerprint(Tower& tower,
                                                          const FingerprintStimulus& stimulus,
                                                          const Executor::Observer* observer) {
  const std::string refusal = fingerprint_refusal(tower.examples());
  check(refusal.empty(), refusal);
  Executor& executor = tower.executor();
  tower.write_variables(stimulus.values);
  for (const FingerprintProbe& probe : stimulus.probes) {
    if (is_average(probe.kind)) {
      executor.write_variable(probe.variable,
                              std::vector<float>(stimulus.values.at(probe.variable).size()));
    }
  }
  tower.set_loss_scale(stimulus.loss_scale);
  run_on_two_images(tower, 0, observer);
  Logits logits;
  logits.add(tower, 0);
  std::vector<FingerprintPart> parts{
      {.kind = FingerprintKind::loss, .size = executor.read_scalar("loss")},
      logits.part(FingerprintKind::logits)};
  std::vector<float> values;
  for (const FingerprintKind kind :
       {FingerprintKind::weight_gradients, FingerprintKind::bias_gradients,
        FingerprintKind::scale_gradients, FingerprintKind::shift_gradients, FingerprintKind::means,
        FingerprintKind::variances}) {
    std::vector<Sums> variables;
    for (const FingerprintProbe& probe : stimulus.probes) {
      if (probe.kind != kind) {
        continue;
      }
      double factor = 1 / stimulus.loss_scale;
      if (is_average(kind)) {
        values = executor.read_variable(probe.variable, std::move(values));
        factor = 1 / average_factor(executor.graph(), probe.variable);
      } else {
        values = executor.read_gradient(probe.variable, std::move(values));
      }
      variables.push_back(sums_of(probe.variable, values, factor));
    }
    add_parts(kind, variables, parts);
  }
  return parts;
}

std::vector<FingerprintPart> measure_inference_fingerprint(Tower& tower,
                                                           const FingerprintStimulus& stimulus,
                                                           const Executor::Observer* observer) {
  tower.write_variables(stimulus.values);
  const std::int64_t batch = tower.examples();
  const std::size_t runs = static_cast<std::size_t>(batch) % kImages == 0 ? 1 : kImages;
  Logits logits;
  for (std::size_t run = 0; run < runs; ++run) {
    run_on_two_images(tower, run, run == 0 ? observer : nullptr);
    logits.add(tower, run);
  }
  return {logits.part(FingerprintKind::inference_logits)};
}

}  // namespace bench
