#include "bench/after/record_file.h"

#include <ostream>
#include <utility>

namespace bench {

RecordFile::RecordFile(const RunFiles& files, results::Record record, std::ostream& out)
    : writer_(files.result ? results::make_writer("json", *files.result) : nullptr),
      record_(std::move(record)),
      out_(out) {
  record_.verification.skipped = "the run ended before the check";
}

void RecordFile::write(results::Status status, bool partial, const std::string& reason) {
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
    write(status, partial, reason);
  }
}

}  // namespace bench
