#pragma once

#include <filesystem>
#include <string_view>

namespace bench::results {

/// A file that is written as a whole or not at all: readers see the old contents or the new ones.
class AtomicFile {
 public:
  /// Checks by making a temporary file in the folder of `path` and removing it. A symbolic link
  /// stands for the file it points to. Throws UsageError, naming the path, when the folder is not
  /// there or cannot be written, or when `path` is a folder, a device or another special file.
  explicit AtomicFile(const std::filesystem::path& path);

  /// Writes a temporary file in the same folder, flushes it to the disk and renames it; waits for
  /// the disk. Throws WriteError naming the path and the failed call; the old contents then remain.
  void write(std::string_view contents) const;

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
};

}  // namespace bench::results
