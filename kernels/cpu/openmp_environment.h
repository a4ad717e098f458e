#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/cpu/library_variables.h"

namespace bench {

/// The variable by which GNU OpenMP is told how long threads that wait for each other stay awake.
inline constexpr const char* kSpinVariable = "GOMP_SPINCOUNT";

/// The value of kSpinVariable with which waiting threads soon sleep and leave their processor to
/// others; nothing where the user's own variables (it, or OMP_WAIT_POLICY) decide.
std::optional<std::string> short_waits(const Environment& environment);

/// Sets short_waits() and starts this program anew in the same process, since GNU OpenMP reads its
/// variables before main begins. Returns where there is nothing to set, and where the system starts
/// nothing: threads then wait as OpenMP's default has it. To be called first in main.
void restart_with_short_waits(char** argv);

/// Throws UsageError where the environment or `ulimit -s` (`limit_bytes`) gives threads too small a
/// stack for the kernels. OMP_STACKSIZE, or GOMP_STACKSIZE where that is none, is a number and B,
/// K, M or G, without one K; OpenMP takes anything else for none.
void check_stacks(const Environment& environment, std::int64_t limit_bytes);

/// What `ulimit -s` allows this process, in bytes; the largest number where it is unlimited.
std::int64_t stack_limit_bytes();

}  // namespace bench
