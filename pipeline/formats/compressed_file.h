#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "models/base/errors.h"
#include "pipeline/formats/input_file.h"

namespace bench {

enum class Compression : std::uint8_t { gzip, zlib };

/// The compression of a file that begins with these bytes; nothing if they are of neither kind.
std::optional<Compression> compression_of(std::string_view start);

/// Decompresses a file from front to back. A gzip file may have several members.
class CompressedFile {
 public:
  /// `file` must outlive it.
  CompressedFile(const InputFile& file, Compression compression);
  ~CompressedFile();
  CompressedFile(CompressedFile&&) = delete;
  CompressedFile& operator=(CompressedFile&&) = delete;

  /// Reads at most `bytes` decompressed bytes, at least one unless the data end. Throws DataError
  /// with file and reason if the file is damaged or truncated.
  std::size_t read(char* to, std::size_t bytes);

 private:
  struct State;
  [[nodiscard]] DataError failure() const;
  /// Starts a new stream or member.
  void reset();
  /// Reads more compressed bytes if all are used up; false at the end of the file.
  bool refill();

  const InputFile& file_;
  Compression compression_;
  std::unique_ptr<State> state_;
  std::vector<std::uint8_t> compressed_;
  std::uint64_t position_ = 0;  ///< in the file, of the next compressed bytes
  /// The status of a decompression that failed; else 0.
  int failure_ = 0;
};

}  // namespace bench
