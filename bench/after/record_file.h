#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include "bench/plan/settings.h"
#include "results/writer.h"

namespace bench {

/// The record of a run, which is written whatever way the run ends.
class RecordFile {
 public:
  /// `out` is what the run prints its result on: it comes before a record that goes there too.
  /// Makes the folder of --benchmark_log_dir. Throws UsageError when --result_file cannot be
  /// written, or that folder cannot be made.
  RecordFile(const RunFiles& files, results::Record record, std::ostream& out);

  results::Record& record() { return record_; }
  /// Writes the logs of --benchmark_log_dir too. Throws WriteError.
  void write(results::Status status, bool partial, const std::string& reason);
  /// The same for one that a later one will replace; nothing where it would remain.
  void write_for_now(results::Status status, bool partial, const std::string& reason);

 private:
  void write_record(results::Status status, bool partial, const std::string& reason);

  std::unique_ptr<results::RecordWriter> writer_;
  std::optional<std::string> logs_;
  results::Record record_;
  std::ostream& out_;
};

}  // namespace bench
