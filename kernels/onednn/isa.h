#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string>

namespace bench::onednn {

/// Returns true if oneDNN uses these instructions: the processor has them and no limit forbids
/// them.
bool has_isa(dnnl::cpu_isa isa);

/// The richest of them, by oneDNN's name.
std::string isa_name();

}  // namespace bench::onednn
