#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace bench {

/// A file that is written as a whole or not at all: readers see the old contents or the new ones.
class AtomicFile {
 public:
  /// Checks by making a temporary file in the folder of `path` and removing it. A symbolic link
  /// stands for the file it points to. Throws UsageError, naming the path, when the folder is not
  /// there or cannot be written, or when `path` is a folder, a device or another special file.
  /// `what` is how messages call it.
  explicit AtomicFile(const std::filesystem::path& path, std::string_view what = "result file");

  /// Writes a temporary file in the same folder, flushes it to the disk and renames it; waits for
  /// the disk. Throws WriteError naming the path and the failed call; the old contents then remain.
  void write(std::string_view contents) const;
  /// The same for contents that lie in several places, one part after the other.
  void write(std::span<const std::string_view> parts) const;

 private:
  std::string what_;
  std::filesystem::path path_;
  std::filesystem::path temporary_;
};

}  // namespace bench
