#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "results/store/stored_run.h"

namespace bench::results {

/// Two commands to run in turn. Each is passed to /bin/sh with `--result_file=FILE` appended.
struct InterleavedPlan {
  std::string base{};
  std::string other{};
  std::size_t pairs = 8;
  std::chrono::milliseconds cooldown{0};  ///< Before each run but the first.
  /// Folder of records and outputs, which replace earlier ones; created if missing.
  std::filesystem::path folder{};
  /// If a command still runs this long after a signal, the signal is sent again: a shell can lose
  /// one while it starts a program.
  std::chrono::seconds signal_again{5};
};

/// `text` as one word of the shell.
std::string shell_quoted(const std::string& text);

/// The order in which the sides run: base, other, other, base, and so on. A slow change of the
/// machine thus affects both alike. Entry i is true if run i is the other's.
std::vector<bool> interleaved_order(std::size_t pairs);

struct InterleavedRuns {
  std::vector<StoredRun> base{};  ///< base[i] and other[i] are a pair.
  std::vector<StoredRun> other{};
  int interrupted_by = 0;  ///< The signal that ended the runs, or 0; whole pairs are present.
};

/// Called after each run with the runs so far. It may end the measurement by throwing.
using AfterRun = std::function<void(const InterleavedRuns&, const StoredRun& run, bool is_other)>;

/// Runs the commands in fresh processes, one after another, and reads their records. Their output
/// goes to files next to the records. Throws DataError, with the command, its status and the log,
/// if one fails or writes no record.
InterleavedRuns run_interleaved(const InterleavedPlan& plan, const AfterRun& after);

}  // namespace bench::results
