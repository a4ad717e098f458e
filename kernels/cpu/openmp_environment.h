#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/cpu/library_variables.h"

namespace bench {

/// The variable that sets how long GNU OpenMP's waiting threads stay awake.
inline constexpr const char* kSpinVariable = "GOMP_SPINCOUNT";

/// The value of kSpinVariable with which waiting threads soon sleep and release their processor.
/// Empty if the user's variables (this one or OMP_WAIT_POLICY) decide.
std::optional<std::string> short_waits(const Environment& environment);

/// Sets short_waits() and restarts this program in the same process, since GNU OpenMP reads its
/// variables before main begins. Returns if there is nothing to set or the restart fails; threads
/// then wait by OpenMP's default. Call it first in main.
void restart_with_short_waits(char** argv);

/// Throws UsageError if the environment or `ulimit -s` (`limit_bytes`) gives threads too small a
/// stack for the kernels. OMP_STACKSIZE, or GOMP_STACKSIZE if that is unset, is a number and B, K,
/// M or G; the default unit is K. OpenMP ignores any other value.
void check_stacks(const Environment& environment, std::int64_t limit_bytes);

/// The limit of `ulimit -s` for this process, in bytes; the largest number if unlimited.
std::int64_t stack_limit_bytes();

}  // namespace bench
