#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/plan/record_settings.h"
#include "bench/runs/run_host.h"
#include "results/store/stored_run.h"

namespace bench {

/// One of several runs of this program's command line.
struct ChildRun {
  /// All runs have the same group.
  GroupPlace place = {};
  /// Appended to the command line, where the last value of a flag wins.
  std::vector<std::string> words = {};
  std::vector<std::pair<std::string, std::string>> variables = {};
};

struct ChildOutcome {
  /// Its exit status, or 128 + the signal that ended it.
  int status = 0;
  /// Set if the status is 0.
  std::optional<results::StoredRun> record = {};
};

/// The unit of a run's speed, as a title: images/sec or tokens/sec.
std::string speed_title(const results::StoredRun& run);

/// If ChildRuns started this process: the process also receives SIGTERM when its parent ends, even
/// by SIGKILL.
void end_with_parent();

/// Runs this program several times, each in a separate process and process group. Reads the records
/// of the runs, which form one group.
class ChildRuns {
 public:
  /// Throws DeviceError if no temporary file can be made.
  explicit ChildRuns(RunHost& host);
  ~ChildRuns();
  ChildRuns(const ChildRuns&) = delete;
  ChildRuns& operator=(const ChildRuns&) = delete;

  /// Waits for the end of the run. Forwards a signal that is to end this program. Warns if another
  /// signal killed the run. Throws DeviceError if the run cannot be started.
  ChildOutcome run(const ChildRun& child);
  [[nodiscard]] const std::string& group() const { return group_; }

 private:
  class ScratchFile;

  RunHost& host_;
  std::string group_;
  std::unique_ptr<ScratchFile> scratch_;
};

}  // namespace bench
