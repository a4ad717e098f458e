#include "pipeline/formats/tfrecord_reader.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <bit>
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

/// The largest record in a compressed file, whose size does not bound it.
constexpr std::uint64_t kMostInCompressedFile = std::uint64_t{1} << 30U;

/// What a file seems to be that is not a TFRecord, by its first bytes; "" if that is unknown.
std::string_view kind_of(std::string_view start) {
  if (start.starts_with("\xfd"
                        "7zXZ") ||
      start.starts_with("BZh")) {
    return "it is compressed by xz or bzip2; only gzip and zlib are accepted";
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
    : file_(std::move(path)), file_bytes_(file_.size()), block_bytes_(block_bytes) {
  if (const auto compression = compression_of_file()) {
    compression_ = *compression;
    restart();
  }
  file_.advise(block_bytes_ == kNoBlocks ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL);
}

std::optional<Compression> TfRecordReader::compression_of_file() const {
  std::array<char, kTfRecordHeaderBytes> start{};
  const std::size_t count = file_.read(start.data(), start.size(), 0);
  // A record of a certain length begins like a compressed file.
  const bool is_header = count == start.size() && load<std::uint32_t>(start.data() + 8) ==
                                                      mask_crc(crc32c({start.data(), 8}));
  return is_header ? std::nullopt : compression_of({start.data(), count});
}

void TfRecordReader::restart() {
  compressed_ = std::make_unique<CompressedFile>(file_, *compression_);
  begin_ = end_ = 0;
  file_position_ = 0;
  offset_ = 0;
}

std::size_t TfRecordReader::read(char* to, std::size_t bytes) {
  return compressed_ != nullptr ? compressed_->read(to, bytes)
                                : file_.read(to, bytes, file_position_);
}

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
    const std::size_t count = read(buffer_.get() + end_, capacity_ - end_);
    if (count == 0) {
      return false;
    }
    end_ += count;
    file_position_ += count;
  }
  if (block_bytes_ != kNoBlocks && compressed_ == nullptr) {
    file_.advise(POSIX_FADV_WILLNEED, file_position_, block_bytes_);
  }
  return true;
}

std::uint64_t TfRecordReader::bytes_left() const {
  return compressed_ == nullptr && file_bytes_ > offset_ ? file_bytes_ - offset_ : 0;
}

std::string TfRecordReader::header_mismatch() const {
  const std::string_view start(buffer_.get() + begin_, kTfRecordHeaderBytes);
  if (const std::string_view kind = offset_ == 0 ? kind_of(start) : ""; !kind.empty()) {
    return fmt::format("{}, offset 0: this is not a TFRecord: {}", file_.path(), kind);
  }
  if (offset_ == 0) {
    return fmt::format(
        "{}, offset 0: this is not a TFRecord: the checksum of the first record's length does not "
        "match",
        file_.path());
  }
  return fmt::format("{}, offset {}: corrupted record: the checksum of its length does not match",
                     file_.path(), offset_);
}

DataError TfRecordReader::truncated(std::uint64_t size) const {
  if (compressed_ != nullptr) {
    return DataError(fmt::format(
        "{}, offset {} of the decompressed data: truncated record: they have {} of its {} bytes",
        file_.path(), offset_, buffered(), size));
  }
  const std::uint64_t now = file_.size();  // The file may have shrunk.
  const std::uint64_t left = now > offset_ ? now - offset_ : 0;
  return DataError(fmt::format("{}, offset {}: truncated record: the file has {} of its {} bytes",
                               file_.path(), offset_, left, size));
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
        file_.path(), offset_, length));
  }
  if (compressed_ != nullptr) {
    if (size > kMostInCompressedFile) {
      throw DataError(
          fmt::format("{}, offset {} of the decompressed data: a record has {} bytes; at most {} "
                      "are accepted in "
                      "a compressed file",
                      file_.path(), offset_, size, kMostInCompressedFile));
    }
    return size;
  }
  if (size > bytes_left()) {
    file_bytes_ = file_.size();
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
  if (compressed_ == nullptr) {
    seek(offset_ + *size);
  } else if (!seek_decompressed(offset_ + *size)) {
    throw truncated(*size);
  }
  return place;
}

void TfRecordReader::seek(std::uint64_t offset) {
  if (compressed_ != nullptr) {
    seek_decompressed(offset);
    return;
  }
  if (offset >= offset_ && offset - offset_ <= buffered()) {
    begin_ += offset - offset_;
  } else {
    begin_ = end_;
    file_position_ = offset;
  }
  offset_ = offset;
}

bool TfRecordReader::seek_decompressed(std::uint64_t offset) {
  if (offset < offset_) {
    restart();
  }
  while (offset_ < offset) {
    constexpr std::uint64_t kStep = std::uint64_t{1} << 16U;
    const std::uint64_t left = offset - offset_;
    if (buffered() == 0 && !fill(std::min(left, kStep))) {
      offset_ += buffered();
      begin_ = end_;
      return false;
    }
    const std::uint64_t skipped = std::min<std::uint64_t>(left, buffered());
    begin_ += skipped;
    offset_ += skipped;
  }
  return true;
}

}  // namespace bench
