#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "results/track/tracking.h"

namespace bench::results {

/// How a suspect night is run again: a command in which {rev} stands for the revision to run, and
/// {flags} for the flags that the run's user gave.
struct RerunPlan {
  std::string command{};
  std::size_t pairs = 8;
  std::filesystem::path folder{};
};

/// `command` with the placeholders replaced; the flags are quoted for the shell. Throws UsageError
/// where it lacks {rev}.
std::string filled_command(const std::string& command, const std::string& revision,
                           const nlohmann::json& record);

/// The record of a run by its id.
using RecordOf = std::function<nlohmann::json(const std::string& record_id)>;

/// Runs the newest night's revision in turn with that of the night before, where the newest is
/// suspected of a regression and the revisions differ, and makes it a change or clears it. Says
/// what it does on `err`. A rerun that fails leaves the night suspect, says so, and
/// the next series follows. False where it was interrupted, and ended with that.
bool rerun_suspects(Tracked& tracked, const RerunPlan& plan, const RecordOf& record_of,
                    std::ostream& err);

}  // namespace bench::results
