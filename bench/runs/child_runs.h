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
  /// Its group is that of all.
  GroupPlace place = {};
  /// Go behind the words of the command line, of which the last one holds.
  std::vector<std::string> words = {};
  std::vector<std::pair<std::string, std::string>> variables = {};
};

struct ChildOutcome {
  /// Its exit status, or 128 + the signal that ended it.
  int status = 0;
  /// Of one whose status is 0.
  std::optional<results::StoredRun> record = {};
};

/// Runs this program anew, each time in a process and a process group of its own, and reads the
/// records that they leave, which are one group.
class ChildRuns {
 public:
  /// Throws DeviceError where no temporary file can be made.
  explicit ChildRuns(RunHost& host);
  ~ChildRuns();
  ChildRuns(const ChildRuns&) = delete;
  ChildRuns& operator=(const ChildRuns&) = delete;

  /// Waits for its end. A signal that is to end this program is handed on. Throws DeviceError where
  /// it cannot be started.
  ChildOutcome run(const ChildRun& child);
  [[nodiscard]] const std::string& group() const { return group_; }

 private:
  class ScratchFile;

  RunHost& host_;
  std::string group_;
  std::unique_ptr<ScratchFile> scratch_;
};

}  // namespace bench
