#pragma once

#include "bench/runs/measure.h"

namespace bench {

/// What comes after the steps, whether they succeeded or not: saves the variables, prints profile
/// and notes, writes the trace, checks the network, and writes the record. Returns the exit status:
/// 0, or 1 for a loss that is not finite or a network that computes something else. Throws RunEnded
/// for an end that was asked for, and what else a part threw once the record says so.
int conclude(Begun& begun, Prepared& prepared, const Measured& measured, RunHost& host);

}  // namespace bench
