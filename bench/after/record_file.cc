#include "bench/after/record_file.h"

#include <ostream>
#include <span>
#include <utility>

#include "bench/after/reportable.h"
#include "models/base/errors.h"
#include "models/base/makeable_folder.h"
#include "results/formats/format.h"
#include "results/quality_score.h"
#include "results/record_json.h"
#include "results/store/store.h"

namespace bench {
RecordFile::RecordFile(const RunSettings& settings, results::Record record, std::ostream& out)
    : logs_(settings.files.benchmark_logs),
      settings_(settings.record),
      record_(std::move(record)),
      out_(out) {
  for (const auto& path : {settings.files.result, settings.record.report_to}) {
    if (path) {
      writers_.push_back(results::make_writer("json", *path));
    }
  }
  if (settings_.store && !settings.dump.any() && !settings.files.dump_tensors) {
    store_ = settings_.store;
    results::check_can_store(*store_);
  }
  if (logs_) {
    if (const auto reason = why_no_folder(*logs_)) {
      throw UsageError(
          cat("--benchmark_log_dir=", *logs_, ": no folder can be made there: ", *reason));
    }
  }
  record_.verification.skipped = "the run ended before the check";
}

void RecordFile::finish(results::Status status, bool partial, const std::string& reason) {
  record_.status = status;
  record_.partial = partial;
  record_.status_reason = reason;
  add_quality_score(record_);
  judge_reportable(record_, settings_);
}

void RecordFile::write(results::Status status, bool partial, const std::string& reason) {
  finish(status, partial, reason);
  out_.flush();
  for (const auto& writer : writers_) {
    writer->write(record_);
  }
  if (!store_ && !logs_) {
    return;
  }
  const results::StoredRun run = results::parse_run(results::record_json(record_), "this run");
  if (store_) {
    results::Store(*store_, results::Store::Access::kWrite).add(run);
  }
  if (logs_) {
    results::write_outputs(results::format_to_write("tf-logs").write(std::span(&run, 1)), *logs_);
  }
}

void RecordFile::write_for_now(results::Status status, bool partial, const std::string& reason) {
  finish(status, partial, reason);
  for (const auto& writer : writers_) {
    if (writer->replaces()) {
      out_.flush();
      writer->write(record_);
    }
  }
}

}  // namespace bench
