#include "bench/quantize/agreement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "models/base/errors.h"

namespace bench {
namespace {

/// The class of the largest logit of each example.
std::vector<std::int64_t> top_1(std::span<const float> logits, std::size_t classes) {
  std::vector<std::int64_t> winners;
  for (std::size_t begin = 0; begin < logits.size(); begin += classes) {
    const auto example = logits.subspan(begin, classes);
    winners.push_back(std::max_element(example.begin(), example.end()) - example.begin());
  }
  return winners;
}

/// The sum of squares of one class's distances from their mean over the examples; exactly 0 if all
/// numbers are equal.
double power_about_mean(const std::vector<double>& numbers, std::size_t first, std::size_t step) {
  double sum = 0;
  double squares = 0;
  double count = 0;
  // Subtract the first number, so that a common offset costs no digits.
  const double origin = numbers[first];
  for (std::size_t i = first; i < numbers.size(); i += step) {
    const double distance = numbers[i] - origin;
    sum += distance;
    squares += distance * distance;
    ++count;
  }
  return std::max(squares - sum * sum / count, 0.0);
}

/// The remainder of equal logits if an f32 kernel sums them in a different order for each image,
/// relative to their power.
constexpr double kF32Rounding = 16 * static_cast<double>(std::numeric_limits<float>::epsilon());

}  // namespace

std::optional<double> SignalToNoise::decibels() const {
  const bool defined = std::isfinite(signal) && std::isfinite(noise) && signal > 0 && noise > 0;
  return defined ? std::optional(10 * std::log10(signal / noise)) : std::nullopt;
}

Agreement compare_logits(std::span<const float> logits, std::span<const float> right,
                         std::int64_t classes) {
  const auto step = static_cast<std::size_t>(classes);
  check(logits.size() == right.size() && !right.empty() && right.size() % step == 0,
        "compare_logits: sizes differ");
  Agreement result;
  const std::vector<double> wanted(right.begin(), right.end());
  std::vector<double> errors(right.size());
  for (std::size_t i = 0; i < right.size(); ++i) {
    errors[i] = static_cast<double>(logits[i]) - wanted[i];
    result.plain.signal += wanted[i] * wanted[i];
    result.plain.noise += errors[i] * errors[i];
  }
  for (std::size_t c = 0; c < step; ++c) {
    result.centred.signal += power_about_mean(wanted, c, step);
    result.centred.noise += power_about_mean(errors, c, step);
  }
  if (result.centred.signal <= kF32Rounding * kF32Rounding * result.plain.signal) {
    result.centred.signal = 0;
  }
  const auto winners = top_1(right, step);
  const auto found = top_1(logits, step);
  result.examples = static_cast<std::int64_t>(winners.size());
  for (std::size_t i = 0; i < winners.size(); ++i) {
    result.same_top_1 += found[i] == winners[i] ? 1 : 0;
  }
  result.classes_named = static_cast<std::int64_t>(std::set(winners.begin(), winners.end()).size());
  return result;
}

std::int64_t count_correct(std::span<const float> logits, std::span<const std::int32_t> labels,
                           std::int64_t classes) {
  const auto winners = top_1(logits, static_cast<std::size_t>(classes));
  check(winners.size() == labels.size(), "count_correct: one label per example");
  std::int64_t correct = 0;
  for (std::size_t i = 0; i < winners.size(); ++i) {
    correct += winners[i] == labels[i] ? 1 : 0;
  }
  return correct;
}

}  // namespace bench
