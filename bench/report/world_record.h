#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/loop/session.h"
#include "results/record/record.h"

namespace bench {

/// What the other processes of a run must know of this one, as text. The record has the
/// measurements.
std::string rank_text(const results::Record& record, const SessionResult& session);

/// Reads the processes' texts, by rank.
std::vector<results::WorldRank> read_ranks(std::span<const std::string> texts);

/// Warns of processors that differ, and of a rank that computes longer than the others. `name_of`
/// returns a rank's name.
std::vector<std::string> rank_warnings(std::span<const results::WorldRank> ranks,
                                       const std::function<std::string(int rank)>& name_of);

}  // namespace bench
