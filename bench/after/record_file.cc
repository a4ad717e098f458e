#include "bench/after/record_file.h"

#include <filesystem>
#include <ostream>
#include <span>
#include <system_error>
#include <utility>

#include "models/base/errors.h"
#include "results/formats/format.h"
#include "results/record_json.h"
#include "results/store/stored_run.h"

namespace bench {
namespace {

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path)) {
    throw UsageError(cat("--benchmark_log_dir=", path, ": no folder can be made there",
                         error ? cat(": ", error.message()) : std::string()));
  }
}

}  // namespace

RecordFile::RecordFile(const RunFiles& files, results::Record record, std::ostream& out)
    : writer_(files.result ? results::make_writer("json", *files.result) : nullptr),
      logs_(files.benchmark_logs),
      record_(std::move(record)),
      out_(out) {
  if (logs_) make_folder(*logs_);
  record_.verification.skipped = "the run ended before the check";
}

void RecordFile::write(results::Status status, bool partial, const std::string& reason) {
  write_record(status, partial, reason);
  if (logs_) {
    const results::StoredRun run = results::parse_run(results::record_json(record_), "this run");
    results::write_outputs(results::format_to_write("tf-logs").write(std::span(&run, 1)), *logs_);
  }
}

void RecordFile::write_record(results::Status status, bool partial, const std::string& reason) {
  record_.status = status;
  record_.partial = partial;
  record_.status_reason = reason;
  if (writer_ != nullptr) {
    out_.flush();
    writer_->write(record_);
  }
}

void RecordFile::write_for_now(results::Status status, bool partial, const std::string& reason) {
  if (writer_ != nullptr && writer_->replaces()) {
    write_record(status, partial, reason);
  }
}

}  // namespace bench
