#pragma once

#include "bench/runs/measure.h"

namespace bench {

/// Performs everything that follows the steps, whether they succeeded or not. Saves the variables,
/// prints profile and notes, writes the trace, checks the network, and writes the record. Returns
/// the exit status: 0, or 1 for a loss that is not finite or a failed check of the network. Throws
/// RunEnded if the user ended the run. Throws other failures of a part after the record contains
/// them.
int conclude(Begun& begun, Prepared& prepared, const Measured& measured, RunHost& host);

}  // namespace bench
