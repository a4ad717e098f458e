#include "bench/report/record_file.h"

#include <glog/logging.h>

#include <exception>
#include <ostream>
#include <span>
#include <utility>

#include "bench/report/reportable.h"
#include "models/base/errors.h"
#include "models/base/makeable_folder.h"
#include "models/base/text.h"
#include "results/formats/format.h"
#include "results/record/quality_score.h"
#include "results/record/record_json.h"
#include "results/store/store.h"

namespace bench {
namespace {

/// Keeps the first of several failures, so that the other writes still happen.
class FirstFailure {
 public:
  /// Returns true if the write succeeded.
  template <class Write>
  bool keep(const Write& write) {
    try {
      write();
      return true;
    } catch (...) {
      if (!first_) first_ = std::current_exception();
      return false;
    }
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_{};
};

}  // namespace

void check_kept(const Outputs& outputs) {
  if (outputs.record.store) {
    results::check_can_store(*outputs.record.store);
  }
  if (const auto& logs = outputs.files.benchmark_logs) {
    if (const auto reason = why_no_folder(*logs)) {
      throw UsageError(
          fmt::format("--benchmark_log_dir={}: cannot create this folder: {}", *logs, *reason));
    }
  }
}

RecordFile::RecordFile(const Outputs& outputs, results::Record record, std::ostream& out)
    : logs_(outputs.files.benchmark_logs),
      settings_(outputs.record),
      record_(std::move(record)),
      out_(out) {
  if (outputs.files.result) {
    result_.emplace(*outputs.files.result);
  }
  if (settings_.report_to) {
    report_.emplace(*settings_.report_to);
  }
  if (!outputs.dump.any() && !outputs.files.dump_tensors) {
    store_ = settings_.store;
    check_kept(outputs);
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
  FirstFailure failure;
  bool in_a_file = false;
  if (result_) {
    in_a_file = failure.keep([&] { result_->write(results::record_json(record_)); });
  }
  if (report_) {
    failure.keep([&] { report_->write(results::record_json(record_)); });
  }
  if (store_ || logs_) {
    const results::StoredRun run = results::parse_run(results::record_json(record_), "this run");
    if (store_) {
      failure.keep([&] { store(run, in_a_file); });
    }
    if (logs_) {
      failure.keep([&] {
        results::write_outputs(results::format_to_write("tf-logs").write(std::span(&run, 1)),
                               *logs_);
      });
    }
  }
  failure.rethrow();
}

void RecordFile::store(const results::StoredRun& run, bool in_a_file) const {
  try {
    results::Store(*store_, results::Store::Access::kWrite).add(run);
    LOG(INFO) << "note: stored as " << run.record_id << " in " << printable(store_->string());
  } catch (const std::exception& error) {
    if (in_a_file) throw;
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / fmt::format("bench-{}.json", run.record_id);
    AtomicFile(path).write(results::record_json(record_));
    throw WriteError(fmt::format("{}; the record is in {}", error.what(), path.string()));
  }
}

void RecordFile::write_for_now(results::Status status, bool partial, const std::string& reason) {
  finish(status, partial, reason);
  for (const auto* file : {&result_, &report_}) {
    if (*file && (*file)->replaces()) {
      out_.flush();
      (*file)->write(results::record_json(record_));
    }
  }
}

}  // namespace bench
