#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "results/store/stored_run.h"

namespace bench::results {

/// Two commands to be run in turn. Each is given to /bin/sh with `--result_file=FILE` behind it.
struct InterleavedPlan {
  std::string base{};
  std::string other{};
  std::size_t pairs = 8;
  std::chrono::milliseconds cooldown{0};  ///< Before each run but the first.
  /// Where records and outputs go, in place of earlier ones; made where it is not there.
  std::filesystem::path folder{};
};

/// `text` as one word of the shell.
std::string shell_quoted(const std::string& text);

/// In which order sides run: base, other, other, base, and so on, so that a slow change of the
/// machine meets both alike. Entry i is true where run i is the other's.
std::vector<bool> interleaved_order(std::size_t pairs);

struct InterleavedRuns {
  std::vector<StoredRun> base{};  ///< base[i] and other[i] are a pair.
  std::vector<StoredRun> other{};
  bool interrupted = false;  ///< By Ctrl-C or SIGTERM; whole pairs are there.
};

/// What is told after each run, and what may end it all by throwing: the runs so far.
using AfterRun = std::function<void(const InterleavedRuns&, const StoredRun& run, bool is_other)>;

/// Runs the commands in fresh processes, one after another, and reads their records. Their output
/// goes to files beside the records. Throws DataError, with the command, its status and the log,
/// where one fails or leaves no record.
InterleavedRuns run_interleaved(const InterleavedPlan& plan, const AfterRun& after);

}  // namespace bench::results
