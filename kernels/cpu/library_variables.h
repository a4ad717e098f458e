#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cpu/cpu_isa.h"

namespace bench {

/// The value of an environment variable, empty where there is none.
using Environment = std::function<std::string(const std::string& name)>;

/// The environment of this process.
std::string own_environment(const std::string& name);

/// The instruction set that ONEDNN_MAX_CPU_ISA (DNNL_MAX_CPU_ISA where that is empty) limits oneDNN
/// to, in capitals; nothing where oneDNN knows no such name and so does not limit itself.
std::optional<std::string> isa_limit(const Environment& environment);

/// Whether oneDNN's instruction set `one` is poorer than `other`; both are known names.
bool is_poorer(std::string_view one, std::string_view other);

/// What variables of oneDNN cost a run on this processor: one sentence each, saying what to do;
/// none where they cost nothing.
std::vector<std::string> costly_variables(const Cpuid& cpuid, const Environment& environment);

}  // namespace bench
