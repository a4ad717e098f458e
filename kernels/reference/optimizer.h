#pragma once

#include <memory>
#include <vector>

#include "kernels/optimizer.h"

namespace bench::reference {

/// One element at a time in double; formulas at kernels/optimizer.h.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                          std::vector<OptimizerSegment> segments);

}  // namespace bench::reference
