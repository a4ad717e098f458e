#pragma once

#include "bench/flags/flags.h"
#include "bench/plan/settings.h"

namespace bench {

/// The rule of --optimizer with the coefficients that are flags.
OptimizerRule rule_of(const Flags& flags);

LearningRateOptions learning_rate_of(const Flags& flags, const Model& model,
                                     std::int64_t examples_per_epoch);

/// Adapts the model's own learning rate to synthetic images, and adds notices. Needs the optimizer
/// and the rates.
void adapt_learning_rate(RunSettings& settings);

}  // namespace bench
