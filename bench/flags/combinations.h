#pragma once

#include "bench/flags/flags.h"
#include "models/base/errors.h"
#include "variable_mgmt/learning_rate.h"

namespace bench {

/// A flag is given without another flag that it requires.
class MissingFlag : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Throws UsageError for the first invalid combination of flags, in the order in which
/// tf_cnn_benchmarks checks them. Then checks the combinations that tf_cnn_benchmarks rejects
/// later. Unlike tf_cnn_benchmarks, it accepts NCHW on the CPU. Does not check what is built, nor
/// what an unbuilt flag requires.
void validate(const Flags& flags);

/// True if the flags request computing in bf16 or f16.
bool asks_for_16_bits(const Flags& flags);

/// The part of the command line that concerns the learning rate.
LearningRateRequest learning_rate_request(const Flags& flags);

}  // namespace bench
