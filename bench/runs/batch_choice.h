#pragma once

#include <cstdint>

#include "bench/runs/run.h"
#include "results/record.h"

namespace bench {

/// The batch that --batch_size=auto or max stands for, and how it was found.
struct ChosenBatch {
  std::int64_t batch = 0;
  results::BatchChoice choice = {};
};

/// Measures a few steps of each of some sizes, says what came out, and chooses the smallest that is
/// about as fast as the best. Throws UsageError when not even one image fits into memory, RunEnded.
ChosenBatch choose_fastest_batch(const RunSettings& settings, RunHost& host);

/// The largest batch whose planned memory leaves something to what is not planned; says what it and
/// the next one need. Of --plan_for the card's memory counts, and the host's does not. Throws
/// UsageError when none does or the memory's limit is not known, RunEnded.
ChosenBatch choose_largest_batch(const RunSettings& settings, RunHost& host);

}  // namespace bench
