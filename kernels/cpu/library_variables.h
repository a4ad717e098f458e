#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cpu/cpu_isa.h"

namespace bench {

/// Returns the value of an environment variable, empty if it is not set.
using Environment = std::function<std::string(const std::string& name)>;

/// The environment of this process.
std::string own_environment(const std::string& name);

/// The instruction set to which ONEDNN_MAX_CPU_ISA (or DNNL_MAX_CPU_ISA if that is empty) limits
/// oneDNN, in capitals. Empty if oneDNN does not know the name, and so has no limit.
std::optional<std::string> isa_limit(const Environment& environment);

/// Returns true if oneDNN's instruction set `one` is poorer than `other`; both must be known names.
bool is_poorer(std::string_view one, std::string_view other);

/// Warnings about oneDNN's variables that slow down a run on this processor, one sentence each with
/// the remedy. Empty if none do.
std::vector<std::string> costly_variables(const Cpuid& cpuid, const Environment& environment);

}  // namespace bench
