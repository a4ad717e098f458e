#pragma once

#include <cstdint>

namespace bench {

struct LossScaleOptions {
  double initial = 1;
  /// Whether the scale follows the gradients.
  bool automatic = false;
  /// Good steps before it doubles.
  std::int64_t increase_every = 1000;
};

/// What the loss is multiplied by so that small gradients survive in f16; the update divides by it.
/// With `automatic` it is halved after a step with a gradient that is not finite, which is then not
/// applied, and doubled after more than `increase_every` good ones in a row.
class LossScale {
 public:
  explicit LossScale(const LossScaleOptions& options)
      : options_(options), value_(options.initial) {}

  [[nodiscard]] double value() const { return value_; }
  [[nodiscard]] bool automatic() const { return options_.automatic; }
  /// Adapts the scale to a step's gradients and returns whether they are to be applied.
  bool take(bool gradients_are_finite);

 private:
  LossScaleOptions options_;
  double value_;
  std::int64_t good_steps_ = 0;
};

}  // namespace bench
