#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace bench {

/// Sums of squares of the right numbers (signal) and of the errors (noise).
struct SignalToNoise {
  double signal = 0;
  double noise = 0;

  /// Ten times the decimal logarithm of signal / noise; nothing unless both are finite and above 0.
  [[nodiscard]] std::optional<double> decibels() const;
};

/// The agreement of a network's logits with the right logits of another network.
struct Agreement {
  SignalToNoise plain = {};
  /// The same for the part that depends on the image: each class's mean over the examples is
  /// subtracted from both. The signal is 0 if the right logits are the same for all examples, up to
  /// f32 rounding.
  SignalToNoise centred = {};
  std::int64_t examples = 0;
  /// Examples for which both networks have the largest logit in the same class.
  std::int64_t same_top_1 = 0;
  /// The number of different classes that have a largest logit in the right network.
  std::int64_t classes_named = 0;
};

/// Compares logits; each example has `classes` of them.
Agreement compare_logits(std::span<const float> logits, std::span<const float> right,
                         std::int64_t classes);

/// Counts the examples whose label has the largest logit.
std::int64_t count_correct(std::span<const float> logits, std::span<const std::int32_t> labels,
                           std::int64_t classes);

}  // namespace bench
