#include "bench/verify/verification.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/verify/fingerprint_tolerances.h"
#include "bench/verify/kernel_check.h"
#include "bench/verify/update_check.h"
#include "models/base/errors.h"
#include "variable_mgmt/fold_values.h"

namespace bench {
namespace {

using results::VerifiedNumber;

VerifiedNumber checked_size(std::string name, double measured, double stored, double tolerance) {
  return {.name = std::move(name),
          .measured = measured,
          .stored = stored,
          .deviation = std::abs(measured - stored) / (stored != 0 ? std::abs(stored) : 1),
          .tolerance = tolerance};
}

/// The part of the same variables; null if `others` has no such part.
const FingerprintPart* counterpart(const FingerprintPart& part,
                                   std::span<const FingerprintPart> others) {
  const auto found = std::find_if(others.begin(), others.end(), [&](const FingerprintPart& other) {
    return other.kind == part.kind && other.first == part.first && other.last == part.last;
  });
  return found == others.end() ? nullptr : &*found;
}

/// Replaces the numbers by NaN, which never passes a comparison.
FingerprintPart missing(FingerprintPart part) {
  part.size = std::numeric_limits<double>::quiet_NaN();
  part.direction = part.size;
  return part;
}

void compare(const FingerprintPart& measured, const FingerprintPart& stored, DType dtype,
             std::string_view where, std::vector<VerifiedNumber>& numbers) {
  const FingerprintTolerance tolerance = fingerprint_tolerance(measured.kind, dtype);
  const std::string name = name_of(measured);
  // With the logarithm of the ratio, a size of 0 is infinitely far from every other.
  numbers.push_back({.name = fmt::format("{}{}", where, name),
                     .measured = measured.size,
                     .stored = stored.size,
                     .deviation = std::abs(std::log(measured.size / stored.size)),
                     .tolerance = tolerance.size});
  if (measured.kind != FingerprintKind::loss) {
    numbers.push_back({.name = fmt::format("{}direction of {}", where, name),
                       .measured = measured.direction,
                       .stored = stored.direction,
                       .deviation = std::abs(measured.direction - stored.direction),
                       .tolerance = tolerance.direction});
  }
}

/// Compares all parts that were measured or are stored for such a run. `where` is the prefix of
/// their names.
void compare(const std::vector<FingerprintPart>& measured, const VerifiedRun& run,
             std::string_view where, std::vector<VerifiedNumber>& numbers) {
  const auto stored = stored_fingerprint(run.model).parts;
  for (const FingerprintPart& part : measured) {
    const FingerprintPart* const old = counterpart(part, stored);
    compare(part, old != nullptr ? *old : missing(part), run.dtype, where, numbers);
  }
  for (const FingerprintPart& part : stored) {
    const bool of_training = part.kind != FingerprintKind::inference_logits;
    if (of_training == run.training && counterpart(part, measured) == nullptr) {
      compare(missing(part), part, run.dtype, where, numbers);
    }
  }
}

/// The L2 term of these variables.
double l2_term(const Graph& graph, const InitialValues& values, double weight_decay) {
  double squares = 0;
  for (const Variable& variable : graph.variables()) {
    if (variable.trainable() && variable.decayed()) {
      for (const float w : values.at(graph.value(variable.value).name)) {
        squares += static_cast<double>(w) * static_cast<double>(w);
      }
    }
  }
  return weight_decay * squares / 2;
}

void check_definition(const VerifiedRun& run, Verification& result) {
  const auto measured = static_cast<double>(network_definition(run.model));
  const auto stored = static_cast<double>(stored_fingerprint(run.model).definition);
  result.numbers.push_back(checked_size("definition", measured, stored, 0));
}

std::vector<FingerprintPart> measure(const VerifiedRun& run, Tower& tower,
                                     const FingerprintStimulus& stimulus,
                                     const Executor::Observer* observer) {
  return run.training ? measure_training_fingerprint(tower, stimulus, observer)
                      : measure_inference_fingerprint(tower, stimulus, observer);
}

/// Checks the fingerprints of all towers but the first, in sequence, because each needs host memory
/// for what it reads. Each tower scales the loss by a different power of two. The remaining
/// gradients therefore differ, which reveals a sum that counts one of them twice.
void check_other_towers(const VerifiedRun& run, Verification& result) {
  for (int other = 1; other < run.towers.size(); ++other) {
    constexpr int kScales = 5;  // f16 allows only a few.
    FingerprintStimulus scaled = run.stimulus;
    scaled.loss_scale = std::ldexp(run.stimulus.loss_scale, -(other % kScales));
    std::vector<FingerprintPart> measured;
    run.towers.run([&](int number) {
      if (number == other) {
        measured = measure(run, run.towers[number], scaled, nullptr);
      }
    });
    compare(measured, run, fmt::format("tower {}: ", other), result.numbers);
  }
}

/// Checks the L2 term of the last run, if there is one.
void check_l2_term(const VerifiedRun& run, Verification& result) {
  Executor& executor = run.towers.first().executor();
  if (!executor.graph().outputs().contains("l2_loss")) {
    return;
  }
  result.numbers.push_back(checked_size(
      "L2 term", executor.read_scalar("l2_loss"),
      l2_term(executor.graph(), run.stimulus.values, run.weight_decay), l2_tolerance()));
}

/// The largest difference, in f32, between the device's normalized pixels and the expected values.
double largest_pixel_difference(Tower& tower) {
  Executor& executor = tower.executor();
  const Shape& shape = tower.find_input("images")->shape;
  const std::int64_t plane = shape[2] * shape[3];
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(shape.elements()));
  std::uint32_t state = 0;
  for (std::uint8_t& pixel : pixels) {
    constexpr std::uint32_t kGoldenRatio = 2654435769U;
    constexpr int kUpperByte = 24;
    pixel = static_cast<std::uint8_t>((state += kGoldenRatio) >> kUpperByte);
  }
  executor.feed_pixels(executor.input("images"), pixels);
  const std::vector<float> images = executor.read_input("images");
  constexpr Normalization kRange;
  double largest = 0;
  for (std::size_t i = 0; i < images.size(); ++i) {
    // Canonical order is NCHW; pixels are NHWC.
    const auto place = static_cast<std::int64_t>(i);
    const std::int64_t row = place / plane;
    const std::int64_t pixel = (row / shape[1] * plane + place % plane) * shape[1] + row % shape[1];
    const double expected =
        (pixels[static_cast<std::size_t>(pixel)] - double{kRange.mean}) / double{kRange.deviation};
    const double difference = std::abs(static_cast<double>(images[i]) - expected);
    // Once NaN, `largest` stays NaN.
    if (!(difference <= largest) && !std::isnan(largest)) {
      largest = difference;
    }
  }
  return largest;
}

void check_pixels(Tower& tower, Verification& result) {
  const double difference = largest_pixel_difference(tower);
  result.numbers.push_back({.name = "pixels",
                            .measured = difference,
                            .stored = 0,
                            .deviation = difference,
                            .tolerance = pixel_tolerance()});
}

/// Uses the gradients of the preceding runs.
void check_update(const VerifiedRun& run, Verification& result) {
  const double difference = largest_update_difference(run.towers, run.strategy, run.reduced,
                                                      run.stimulus.values, run.world);
  result.numbers.push_back(
      {.name = "update",
       .measured = difference,
       .stored = 0,
       .deviation = difference,
       .tolerance = update_tolerance(
           run.strategy.sums.narrow,
           run.towers.size() * (run.world == nullptr ? 1 : run.world->workers()))});
}

}  // namespace

bool Verification::passed() const {
  // A non-finite number fails the comparison and therefore the check.
  return std::all_of(numbers.begin(), numbers.end(),
                     [](const VerifiedNumber& number) { return number.passed(); });
}

std::string Verification::failures() const {
  std::string text;
  for (const VerifiedNumber& number : numbers) {
    if (!number.passed()) {
      if (!text.empty()) {
        text += "; ";
      }
      // 15 digits, because a definition needs every digit.
      text += fmt::format("{} is {:.15g} instead of {:.15g} (deviation {:.3g}, allowed {:.3g})",
                          number.name, number.measured, number.stored, number.deviation,
                          number.tolerance);
    }
  }
  return text;
}

const results::VerifiedNumber* Verification::nearest() const {
  const auto found = std::max_element(
      numbers.begin(), numbers.end(),
      [](const VerifiedNumber& a, const VerifiedNumber& b) { return a.share() < b.share(); });
  return found == numbers.end() ? nullptr : &*found;
}

Verification verify_run(const VerifiedRun& run) {
  Verification result{.skipped = run.skipped};
  const FingerprintStimulus& stimulus = run.stimulus;
  check_definition(run, result);
  Tower& tower = run.towers.first();
  KernelCheck kernels(tower, run.graph(checked_examples(run.model, run.batch)), run.watch);
  // The fingerprint's run has two images. If each is half of the batch, it also serves to check the
  // kernels.
  const bool even = run.batch % 2 == 0;
  if (result.skipped.empty()) {
    const Executor::Observer observer = kernels.observer();
    const Executor::Observer* const seen = even ? &observer : nullptr;
    compare(measure(run, tower, stimulus, seen), run, "", result.numbers);
    check_other_towers(run, result);
  }
  if (!result.skipped.empty() || !even) {
    kernels.run(stimulus);
  }
  if (run.training) {
    check_l2_term(run, result);
  }
  // Ends before the step does, so its loss and L2 term have no values.
  kernels.run_what_draws();
  for (const CheckedKernel& kernel : kernels.kernels()) {
    result.numbers.push_back({.name = kernel.name,
                              .measured = kernel.deviation,
                              .stored = 0,
                              .deviation = kernel.deviation,
                              .tolerance = kernel.tolerance});
  }
  if (run.reads_pixels) {
    check_pixels(tower, result);
  }
  if (run.training && run.repeatable) {
    check_update(run, result);
  }
  return result;
}

}  // namespace bench
