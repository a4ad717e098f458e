#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace bench {

/// Sums of squares: of the right numbers, and of what the others miss them by.
struct SignalToNoise {
  double signal = 0;
  double noise = 0;

  /// Ten times the decimal logarithm of signal over noise; nothing unless both are finite and
  /// above 0.
  [[nodiscard]] std::optional<double> decibels() const;
};

/// How close one network's logits are to another's, which are right.
struct Agreement {
  SignalToNoise plain = {};
  /// Of what depends on the image: from both, each class's mean over the examples is taken away.
  /// Its signal is 0 where the right logits are the same for all examples, to the rounding of f32.
  SignalToNoise centred = {};
  std::int64_t examples = 0;
  /// Examples whose largest logit is the same one.
  std::int64_t same_top_1 = 0;
  /// How many different classes the right network's largest logits name.
  std::int64_t classes_named = 0;
};

/// Compares logits, `classes` for each example.
Agreement compare_logits(std::span<const float> logits, std::span<const float> right,
                         std::int64_t classes);

/// Examples whose largest logit is that of their label.
std::int64_t count_correct(std::span<const float> logits, std::span<const std::int32_t> labels,
                           std::int64_t classes);

}  // namespace bench
