#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

#include "kernels/optimizer.h"

namespace bench::onednn {

/// How the elements of a tensor lie in a copy of it, padding included: where both cut the axes into
/// the same blocks, whatever the order of the blocks and within them.
std::optional<TileOrder> tile_order(const dnnl::memory::desc& from, const dnnl::memory::desc& copy);

}  // namespace bench::onednn
