#pragma once

#include <optional>

#include "bench/loop/session.h"
#include "results/record/input.h"

namespace bench {

/// Adds what the input reports about its files.
void add_dataset(results::Dataset& dataset, const InputStatistics& input);

/// What the input did in the measured steps. Nothing for synthetic images, and without completed
/// steps.
std::optional<results::Input> input_record(const RunSettings& settings,
                                           const SessionResult& session);

}  // namespace bench
