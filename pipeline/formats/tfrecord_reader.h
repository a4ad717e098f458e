#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "models/base/errors.h"
#include "pipeline/formats/compressed_file.h"
#include "pipeline/formats/input_file.h"
#include "pipeline/formats/tfrecord.h"

namespace bench {

/// Reads one TFRecord file, in blocks from front to back, or single records anywhere. The file may
/// be compressed as a whole by gzip or zlib. Offsets are then those of the decompressed data, and
/// seek() decompresses all that precedes.
class TfRecordReader {
 public:
  static constexpr std::size_t kDefaultBlockBytes = std::size_t{1} << 20U;
  /// For skip() and seek(): reads no more than a call needs.
  static constexpr std::size_t kNoBlocks = 0;

  /// Opens `path`; throws DataError that names it if it cannot be read or is not an ordinary file.
  explicit TfRecordReader(std::string path, std::size_t block_bytes = kDefaultBlockBytes);
  ~TfRecordReader() = default;
  TfRecordReader(TfRecordReader&&) = delete;
  TfRecordReader& operator=(TfRecordReader&&) = delete;

  /// Returns the next record, valid until the next call; nothing at a clean end of file. It
  /// verifies the length's checksum. The caller verifies the data's checksum (check_data_crc),
  /// possibly on another thread. Waits for the disk. Throws DataError with file, offset and reason.
  std::optional<TfRecordView> next();

  /// Like next(), but reads only the record's length.
  std::optional<TfRecordPlace> skip();
  /// Continues at a record's first byte.
  void seek(std::uint64_t offset);
  [[nodiscard]] bool is_compressed() const { return compressed_ != nullptr; }
  /// The first byte of the next record.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  /// From there to the end of the file, as far as that is known; 0 if the file is compressed.
  [[nodiscard]] std::uint64_t bytes_left() const;

 private:
  [[nodiscard]] std::optional<Compression> compression_of_file() const;
  /// Continues at the beginning of the decompressed data.
  void restart();
  /// Returns false if the data end before.
  bool seek_decompressed(std::uint64_t offset);
  /// Reads the bytes that follow the buffer; 0 at the end.
  std::size_t read(char* to, std::size_t bytes);
  /// The record's bytes with header and footer; nothing at a clean end of file. Throws DataError.
  std::optional<std::uint64_t> read_size();
  [[nodiscard]] DataError truncated(std::uint64_t size) const;
  /// Makes `bytes` bytes from the record's start available; false if the file ends before.
  bool fill(std::size_t bytes);
  [[nodiscard]] std::size_t buffered() const { return end_ - begin_; }
  [[nodiscard]] std::string header_mismatch() const;

  InputFile file_;
  std::optional<Compression> compression_;
  /// Null unless the file is compressed.
  std::unique_ptr<CompressedFile> compressed_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t file_position_ = 0;
  std::size_t block_bytes_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;  ///< of begin_ in the file
};

}  // namespace bench
