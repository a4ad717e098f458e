#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>

#include "bench/plan/settings.h"
#include "models/base/atomic_file.h"
#include "results/record/record.h"
#include "results/store/stored_run.h"

namespace bench {

/// Checks the destinations of the record without creating anything. Throws UsageError if the folder
/// of --benchmark_log_dir cannot be created. Throws WriteError or DataError if the store of --store
/// is unusable.
void check_kept(const Outputs& outputs);

/// The record of a run. It is written however the run ends.
class RecordFile {
 public:
  /// The run prints its result on `out`, before any record that is written there too. Creates
  /// nothing yet. Throws UsageError if --result_file cannot be written, and what check_kept()
  /// throws.
  RecordFile(const Outputs& outputs, results::Record record, std::ostream& out);

  results::Record& record() { return record_; }
  /// Judges the record and writes it to its file, its store and the logs of --benchmark_log_dir.
  /// Writes to every destination it can, then throws the first failure.
  void write(results::Status status, bool partial, const std::string& reason);
  /// The same for a preliminary record; writes only to destinations where a later record replaces
  /// it.
  void write_for_now(results::Status status, bool partial, const std::string& reason);

 private:
  /// Writes a separate file if the store does not accept the record and no other file holds it.
  void store(const results::StoredRun& run, bool in_a_file) const;
  void finish(results::Status status, bool partial, const std::string& reason);

  /// Empty if it was not requested.
  std::optional<AtomicFile> result_{};
  /// For the program that repeats this run and discards the file afterwards.
  std::optional<AtomicFile> report_{};
  std::optional<std::filesystem::path> store_{};
  std::optional<std::string> logs_;
  RecordSettings settings_;
  results::Record record_;
  std::ostream& out_;
};

}  // namespace bench
