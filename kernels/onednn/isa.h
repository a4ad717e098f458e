#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string>

namespace bench::onednn {

/// Whether oneDNN uses these instructions here: the processor has them and no limit forbids them.
bool has_isa(dnnl::cpu_isa isa);

/// The richest of them, in oneDNN's words.
std::string isa_name();

}  // namespace bench::onednn
