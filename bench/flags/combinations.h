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

/// Throws UsageError for the first combination of flags that the table of refusals excludes.
/// `batch` is the typed value of --batch_size. Unlike tf_cnn_benchmarks, accepts NCHW on the CPU.
/// Does not check what is supported, nor what a refused flag requires.
void validate(const Flags& flags, const BatchRequest& batch);

/// True if the flags request computing in bf16 or f16.
bool asks_for_16_bits(const Flags& flags);

/// The part of the command line that concerns the learning rate.
LearningRateRequest learning_rate_request(const Flags& flags);

}  // namespace bench
