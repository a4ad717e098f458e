#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

#include "kernels/optimizer.h"

namespace bench::onednn {

/// The order of a tensor's elements in a copy, padding included. Exists if the blocks of both
/// layouts have common parts that are contiguous in each.
std::optional<TileOrder> tile_order(const dnnl::memory::desc& from, const dnnl::memory::desc& copy);

}  // namespace bench::onednn
