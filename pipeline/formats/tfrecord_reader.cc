#include "pipeline/formats/tfrecord_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "models/base/crc32c.h"
#include "models/base/errors.h"

namespace bench {
namespace {

static_assert(std::endian::native == std::endian::little, "TFRecord fields are read in place");

template <class T>
T load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

/// The size of an open file; `fallback` if it is unknown.
std::uint64_t size_of(int file, std::uint64_t fallback) {
  struct stat status {};
  return ::fstat(file, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : fallback;
}

/// What a file seems to be that is not a TFRecord, by its first bytes; "" if that is unknown.
std::string_view kind_of(std::string_view start) {
  if (start.starts_with("\x1f\x8b\x08")) {
    return "it is a gzip file; only uncompressed TFRecords are accepted";
  }
  if (start.starts_with("\x78\x01") || start.starts_with("\x78\x9c") ||
      start.starts_with("\x78\xda")) {
    return "it seems to be compressed by zlib; only uncompressed TFRecords are accepted";
  }
  if (start.starts_with("version http")) {
    return "it seems to be a pointer of git-lfs; get the file itself with git lfs pull";
  }
  if (start.starts_with("<!DOCTYPE") || start.starts_with("<!doctype") ||
      start.starts_with("<html") || start.starts_with("<HTML")) {
    return "it is an HTML page; the download probably failed";
  }
  if (start.starts_with("\xff\xd8")) {
    return "it is a JPEG; tools/make_tfrecords makes TFRecords of folders of JPEGs";
  }
  if (start.find_first_not_of('\0') == std::string_view::npos) {
    return "it begins with zeros; the copy or download is probably incomplete";
  }
  return "";
}

}  // namespace

void check_data_crc(std::string_view data, std::uint32_t stored_masked_crc) {
  if (mask_crc(crc32c(data)) != stored_masked_crc) {
    throw DataError("corrupted record: the checksum of its data does not match");
  }
}

TfRecordReader::TfRecordReader(std::string path, std::size_t block_bytes)
    : path_(std::move(path)), block_bytes_(block_bytes) {
  // Without O_NONBLOCK, a pipe without a writer would block the thread here.
  file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  const bool known = file_ >= 0 && ::fstat(file_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    const std::string reason = known ? "it is not a regular file" : std::strerror(errno);
    if (file_ >= 0) {
      ::close(file_);
    }
    throw DataError(fmt::format("{}: cannot read the file: {}", path_, reason));
  }
  file_bytes_ = static_cast<std::uint64_t>(status.st_size);
  ::posix_fadvise(file_, 0, 0,
                  block_bytes_ == kNoBlocks ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL);
}

TfRecordReader::~TfRecordReader() { ::close(file_); }

bool TfRecordReader::fill(std::size_t bytes) {
  if (buffered() >= bytes) {
    return true;
  }
  if (capacity_ < bytes) {
    const std::size_t capacity = std::max(bytes, block_bytes_);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    std::copy_n(buffer_.get() + begin_, buffered(), larger.get());
    buffer_ = std::move(larger);
    capacity_ = capacity;
  } else {
    std::memmove(buffer_.get(), buffer_.get() + begin_, buffered());
  }
  end_ -= begin_;
  begin_ = 0;
  while (buffered() < bytes) {
    const ssize_t count =
        ::pread(file_, buffer_.get() + end_, capacity_ - end_, static_cast<off_t>(file_position_));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      throw DataError(fmt::format("{}, offset {}: cannot read the file: {}", path_, file_position_,
                                  std::strerror(errno)));
    }
    if (count == 0) {
      return false;
    }
    end_ += static_cast<std::size_t>(count);
    file_position_ += static_cast<std::uint64_t>(count);
  }
  if (block_bytes_ != kNoBlocks) {
    ::posix_fadvise(file_, static_cast<off_t>(file_position_), static_cast<off_t>(block_bytes_),
                    POSIX_FADV_WILLNEED);
  }
  return true;
}

std::uint64_t TfRecordReader::bytes_left() const {
  return file_bytes_ > offset_ ? file_bytes_ - offset_ : 0;
}

std::string TfRecordReader::header_mismatch() const {
  const std::string_view start(buffer_.get() + begin_, kTfRecordHeaderBytes);
  if (const std::string_view kind = offset_ == 0 ? kind_of(start) : ""; !kind.empty()) {
    return fmt::format("{}, offset 0: this is not a TFRecord: {}", path_, kind);
  }
  if (offset_ == 0) {
    return fmt::format(
        "{}, offset 0: this is not a TFRecord: the checksum of the first record's length does not "
        "match",
        path_);
  }
  return fmt::format("{}, offset {}: corrupted record: the checksum of its length does not match",
                     path_, offset_);
}

DataError TfRecordReader::truncated(std::uint64_t size) const {
  const std::uint64_t now = size_of(file_, file_bytes_);  // The file may have shrunk.
  const std::uint64_t left = now > offset_ ? now - offset_ : 0;
  return DataError(fmt::format("{}, offset {}: truncated record: the file has {} of its {} bytes",
                               path_, offset_, left, size));
}

std::optional<std::uint64_t> TfRecordReader::read_size() {
  if (!fill(kTfRecordHeaderBytes)) {
    if (buffered() == 0) {
      return std::nullopt;
    }
    throw truncated(kTfRecordHeaderBytes);
  }
  const char* header = buffer_.get() + begin_;
  const auto length = load<std::uint64_t>(header);
  if (load<std::uint32_t>(header + 8) != mask_crc(crc32c({header, 8}))) {
    throw DataError(header_mismatch());
  }
  // Compare the length with the file's size before allocating anything. The file may have grown.
  const std::uint64_t size = length + kTfRecordHeaderBytes + kTfRecordFooterBytes;
  if (size < length) {
    throw DataError(fmt::format(
        "{}, offset {}: truncated record: its length is {} bytes, more than any file can hold",
        path_, offset_, length));
  }
  if (size > bytes_left()) {
    file_bytes_ = size_of(file_, file_bytes_);
  }
  if (size > bytes_left()) {
    throw truncated(size);
  }
  return size;
}

std::optional<TfRecordView> TfRecordReader::next() {
  const std::optional<std::uint64_t> size = read_size();
  if (!size) {
    return std::nullopt;
  }
  if (!fill(*size)) {
    throw truncated(*size);
  }
  const std::uint64_t length = *size - kTfRecordHeaderBytes - kTfRecordFooterBytes;
  const char* data = buffer_.get() + begin_ + kTfRecordHeaderBytes;
  const TfRecordView view{.data = {data, length},
                          .offset = offset_,
                          .data_masked_crc = load<std::uint32_t>(data + length)};
  begin_ += *size;
  offset_ += *size;
  return view;
}

std::optional<TfRecordPlace> TfRecordReader::skip() {
  const std::optional<std::uint64_t> size = read_size();
  if (!size) {
    return std::nullopt;
  }
  const TfRecordPlace place{.offset = offset_, .bytes = *size};
  seek(offset_ + *size);
  return place;
}

void TfRecordReader::seek(std::uint64_t offset) {
  if (offset >= offset_ && offset - offset_ <= buffered()) {
    begin_ += offset - offset_;
  } else {
    begin_ = end_;
    file_position_ = offset;
  }
  offset_ = offset;
}

}  // namespace bench
