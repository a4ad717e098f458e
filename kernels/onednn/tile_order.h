#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

#include "kernels/optimizer.h"

namespace bench::onednn {

/// How the elements of a tensor lie in a copy of it, padding included: where the blocks that both
/// lie in have parts in common that are one piece of memory in each.
std::optional<TileOrder> tile_order(const dnnl::memory::desc& from, const dnnl::memory::desc& copy);

}  // namespace bench::onednn
