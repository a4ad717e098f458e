#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include "bench/plan/settings.h"
#include "results/store/stored_run.h"
#include "results/writer.h"

namespace bench {

/// Throws UsageError where the folder of --benchmark_log_dir cannot be made, and WriteError or
/// DataError for a store of --store that cannot be used. Makes nothing.
void check_kept(const RunSettings& settings);

/// The record of a run, which is written whatever way the run ends.
class RecordFile {
 public:
  /// `out` is what the run prints its result on: it comes before a record that goes there too.
  /// Makes nothing yet. Throws UsageError when --result_file cannot be written, and what
  /// check_kept() throws.
  RecordFile(const RunSettings& settings, results::Record record, std::ostream& out);

  results::Record& record() { return record_; }
  /// Judges the record and writes it to its file, into its store and into the logs of
  /// --benchmark_log_dir: to all that can be written. Throws what the first of the others threw.
  void write(results::Status status, bool partial, const std::string& reason);
  /// The same for one that a later one will replace; nothing where it would remain.
  void write_for_now(results::Status status, bool partial, const std::string& reason);

 private:
  /// Into a file of its own where the store does not take it and no other file holds it.
  void store(const results::StoredRun& run, bool in_a_file) const;
  void finish(results::Status status, bool partial, const std::string& reason);

  /// Null where nobody asked for it.
  std::unique_ptr<results::RecordWriter> result_{};
  /// For the program that repeats this run, which does not keep it.
  std::unique_ptr<results::RecordWriter> report_{};
  std::optional<std::filesystem::path> store_{};
  std::optional<std::string> logs_;
  RecordSettings settings_;
  results::Record record_;
  std::ostream& out_;
};

}  // namespace bench
