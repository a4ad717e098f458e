#pragma once

#include <iosfwd>

#include "bench/loop/session.h"
#include "results/record/record.h"
#include "variable_mgmt/gradients/gradient_sums.h"

namespace bench {

/// Adds the speeds of --predict_ranks to `world`, which has the link and the ranks, and prints
/// them. `sums` are the times of the first device. Does nothing if no steps were measured.
void predict_speeds(const RunSettings& settings, const SessionResult& session, const SumTimes& sums,
                    results::World& world, std::ostream& out);

}  // namespace bench
