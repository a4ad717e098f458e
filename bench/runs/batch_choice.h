#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <span>

#include "bench/runs/run.h"
#include "results/record/record.h"

namespace bench {

/// The batch size that --batch_size=auto or max selected, and how it was found.
struct ChosenBatch {
  std::int64_t batch = 0;
  results::BatchChoice choice = {};
  SpeedUnit unit = {};
};

/// Measures a few steps of several batch sizes, prints the results, and chooses the smallest size
/// that is about as fast as the fastest. Throws UsageError if not even one image fits into memory,
/// and RunEnded.
ChosenBatch choose_fastest_batch(const RunSettings& settings, RunHost& host);

/// Notes on `err` if the run's steps (median) were much slower than in the trial of the chosen
/// batch.
void note_slower_than_trial(const ChosenBatch& chosen,
                            std::span<const std::chrono::nanoseconds> steps, std::ostream& err);

/// Finds the largest batch whose planned memory leaves a reserve for unplanned memory; prints its
/// need and that of the next one. With --plan_for, only the card's memory counts, not the host's.
/// Throws UsageError if no batch fits or the memory limit is unknown, and RunEnded.
ChosenBatch choose_largest_batch(const RunSettings& settings, RunHost& host);

}  // namespace bench
