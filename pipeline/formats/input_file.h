#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace bench {

/// An ordinary file that is open for reading.
class InputFile {
 public:
  /// Throws DataError that names the file if it cannot be read or is not an ordinary file.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(InputFile&&) = delete;
  InputFile& operator=(InputFile&&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// The current size. If it is unknown: the size when opened.
  [[nodiscard]] std::uint64_t size() const;
  /// Reads at most `bytes` bytes from `offset`, at least one unless the file ends there. Waits for
  /// the disk. Throws DataError with file, offset and reason.
  std::size_t read(char* to, std::size_t bytes, std::uint64_t offset) const;
  /// Reads the first `bytes` bytes. Throws DataError also if the file has fewer.
  void read_first(char* to, std::size_t bytes) const;
  /// Advises the kernel about coming reads with posix_fadvise(). 0 bytes: the whole file.
  void advise(int advice, std::uint64_t offset = 0, std::uint64_t bytes = 0) const;

 private:
  std::string path_;
  int file_ = -1;
  std::uint64_t first_size_ = 0;
};

}  // namespace bench
