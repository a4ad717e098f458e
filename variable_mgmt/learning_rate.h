#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/zoo/model_rate.h"

namespace bench {

/// How a rate falls. `f` is the share of a cosine's or a polynomial's decay that is over, counted
/// from the end of the warm-up; after the decay it stays 1.
enum class DecayCurve : std::uint8_t {
  exponential,  ///< By a factor at the end of each decay; the first begins at step 0.
  cosine,       ///< min + (init - min)*(1 + cos(pi*f))/2
  polynomial,   ///< min + (init - min)*(1 - f)^power
};
std::string_view name_of(DecayCurve curve);
/// Throws InternalError for an unknown name.
DecayCurve decay_curve_named(std::string_view name);

/// The user's settings of the learning rate; rates are dimensionless, times are epochs.
struct LearningRateRequest {
  std::optional<double> init_learning_rate = {};
  /// `LR0;E1;LR1;...`: LR0 until epoch E1, then LR1, and so on.
  std::optional<std::string> piecewise_schedule = {};
  DecayCurve curve = DecayCurve::exponential;
  /// Epochs of a decay, and its factor if the curve is exponential; 0 and 0: no decay.
  double num_epochs_per_decay = 0;
  double decay_factor = 0;
  double minimum_learning_rate = 0;
  /// Only for DecayCurve::polynomial.
  double power = 2;
  /// Epochs of the ramp from 0; only with init_learning_rate or piecewise_schedule.
  double num_warmup_epochs = 0;
};

/// Throws UsageError for an incomplete decay: a curve needs init_learning_rate and
/// num_epochs_per_decay, and an exponential one also decay_factor, which others refuse.
void check_decay(const LearningRateRequest& request);

/// Throws UsageError if a piecewise schedule does not parse or comes with another one.
void check_piecewise(const LearningRateRequest& request);

/// The rate of a model with one constant rate; nothing for a model with a schedule.
std::optional<double> constant_rate(ModelRate rate);

struct LearningRateOptions {
  ModelRate model = ModelRate::constant;
  /// ResNet's rate per 256 images.
  double resnet_base = 0.128;
  /// The base rates of ResNet and SSD are divided by this. It is the number of devices whose
  /// gradients are summed (variable_update replicated), or 1 for their mean.
  std::int64_t summed_devices = 1;
  /// Divides every rate of the model, but not the rates of `request`.
  double model_divisor = 1;
  /// Images of one step on all devices of all processes: they count the epochs.
  std::int64_t examples_per_step = 1;
  /// Images whose gradients make one update: they scale the base rates of ResNet and SSD. Unset:
  /// those of a step. With parameter servers, a step has one update per process.
  std::optional<std::int64_t> examples_per_update = {};
  /// Images of one pass over the training set.
  std::int64_t examples_per_epoch = 1;
  LearningRateRequest request = {};
};

/// The learning rate of each step: the user's, or else the model's. It depends only on the global
/// step, which also counts warm-up steps.
class LearningRate {
 public:
  /// Throws UsageError for an incomplete or contradictory request (check_decay, check_piecewise).
  explicit LearningRate(const LearningRateOptions& options);

  /// The rate of the update in step `global_step`, counted from 0.
  double at(std::int64_t global_step) const;
  /// True if all steps up to and including `global_step` have the same rate.
  [[nodiscard]] bool is_constant_through(std::int64_t global_step) const {
    return (pieces_.size() == 1 || global_step <= pieces_.front().last_step) &&
           (decay_steps_ == 0 ||
            global_step < (curve_ == DecayCurve::exponential ? decay_steps_ : 1)) &&
           ramp_steps_ == 0;
  }

 private:
  /// `value` applies up to and including step `last_step`.
  struct Piece {
    std::int64_t last_step;
    double value;
  };

  void use_request(const LearningRateOptions& options);
  void use_model(const LearningRateOptions& options);

  std::vector<Piece> pieces_;     // never empty; the last one has no end
  std::int64_t decay_steps_ = 0;  // 0: no decay
  double decay_factor_ = 1;
  DecayCurve curve_ = DecayCurve::exponential;
  double power_ = 2;
  double minimum_ = 0;
  std::int64_t ramp_steps_ = 0;
  double ramp_target_ = 0;
};

}  // namespace bench
