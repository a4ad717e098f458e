#pragma once

#include <vector>

#include "results/record/gpu.h"
#include "results/record/json_section.h"

namespace bench::results {

/// Adds the list `gpu` to a record.
void put_gpus(Section& out, const std::vector<Gpu>& gpus);

}  // namespace bench::results
