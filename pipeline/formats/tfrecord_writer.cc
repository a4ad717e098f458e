#include "pipeline/formats/tfrecord_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "models/base/crc32c.h"
#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::size_t kPendingBytes = std::size_t{1} << 20U;

template <class T>
void append(std::string& out, T value) {
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  out.append(bytes, sizeof(value));
}

void append_record(std::string& out, std::string_view data) {
  const std::size_t start = out.size();
  append(out, std::uint64_t{data.size()});
  append(out, mask_crc(crc32c(std::string_view(out).substr(start))));
  out += data;
  append(out, mask_crc(crc32c(data)));
}

WriteError write_error(const std::string& path) {
  return WriteError(fmt::format("{}: cannot write the file: {}", path, std::strerror(errno)));
}

}  // namespace

std::string frame_tfrecord(std::string_view data) {
  std::string out;
  append_record(out, data);
  return out;
}

TfRecordWriter::TfRecordWriter(std::string path) : path_(std::move(path)) {
  const std::filesystem::path target(path_);
  temporary_ = target.parent_path() / fmt::format(".{}.{}", target.filename().string(), ::getpid());
  file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) {
    throw write_error(path_);
  }
}

TfRecordWriter::~TfRecordWriter() {
  if (file_ >= 0) {
    ::close(file_);
  }
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
  }
}

void TfRecordWriter::write(std::string_view data) {
  append_record(pending_, data);
  if (pending_.size() >= kPendingBytes) {
    flush();
  }
}

void TfRecordWriter::flush() {
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const ssize_t count = ::write(file_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      throw write_error(path_);
    }
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  pending_.clear();
}

void TfRecordWriter::close() {
  flush();
  if (::fsync(file_) != 0) {
    throw write_error(path_);
  }
  ::close(std::exchange(file_, -1));
}

void TfRecordWriter::finish() {
  if (file_ >= 0) {
    close();
  }
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw write_error(path_);
  }
  temporary_.clear();
}

}  // namespace bench
