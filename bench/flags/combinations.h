#pragma once

#include "bench/flags/flags.h"
#include "models/base/errors.h"
#include "variable_mgmt/learning_rate.h"

namespace bench {

/// A flag is given without what it needs beside it.
class MissingFlag : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Throws UsageError for the first combination of flags that excludes itself, in the order in which
/// tf_cnn_benchmarks checks them; then for those that it finds out later. NCHW on the CPU, which it
/// refuses, is fine here. Says nothing about what is built; what a flag that is not built needs
/// beside it is not asked for either.
void validate(const Flags& flags);

/// Whether the flags ask for computing in bf16 or f16.
bool asks_for_16_bits(const Flags& flags);

/// The part of the command line that concerns the learning rate.
LearningRateRequest learning_rate_request(const Flags& flags);

}  // namespace bench
