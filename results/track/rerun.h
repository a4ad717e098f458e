#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "results/track/tracking.h"

namespace bench::results {

/// The command that reruns a suspect run. {rev} stands for the revision to run, and {flags} for the
/// flags of that run.
struct RerunPlan {
  std::string command{};
  std::size_t pairs = 8;
  std::filesystem::path folder{};
};

/// `command` with the placeholders replaced; the flags are quoted for the shell. Throws UsageError
/// if {rev} is missing.
std::string filled_command(const std::string& command, const std::string& revision,
                           const nlohmann::json& record);

/// The record of a run by its id.
using RecordOf = std::function<nlohmann::json(const std::string& record_id)>;

/// Reruns each newest run that may be a regression, suspect or disturbed, in turn with the revision
/// of the run before, if the revisions differ. Makes it a change or clears it, and reports its
/// steps on `err`. If a rerun fails, reports it, leaves the run suspect and continues with the next
/// series. Returns the signal that interrupted it, or 0.
int rerun_suspects(Tracked& tracked, const RerunPlan& plan, const RecordOf& record_of,
                   std::ostream& err);

}  // namespace bench::results
