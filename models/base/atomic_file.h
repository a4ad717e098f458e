#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "models/base/output_target.h"

namespace bench {

/// A file that is written as a whole or not at all: readers see the old contents or the new ones.
/// Where the path leads to a stream (a pipe, a terminal, /dev/null, /dev/stdout, or `-` for
/// standard output) each write goes straight there, behind what it holds, and nothing is replaced.
class AtomicFile {
 public:
  /// Checks by making a temporary file in the folder of `path` and removing it; removes those that
  /// killed programs left there for this path more than an hour ago. A symbolic link stands for
  /// what it points to, also when that is not there yet. Throws what find_output() does, and
  /// UsageError when no file can be made in the folder. `what` is how messages call it.
  explicit AtomicFile(const std::filesystem::path& path, std::string_view what = "result file");

  /// Writes a temporary file in the same folder, flushes it to the disk and renames it; waits for
  /// the disk, or for the reader of a pipe. A file that is there keeps its mode, and its owner
  /// where the system allows it. Throws WriteError naming the path and the failed call; the old
  /// contents then remain.
  void write(std::string_view contents) const;
  /// The same for contents that lie in several places, one part after the other.
  void write(std::span<const std::string_view> parts) const;

  /// Whether a further write takes the place of the last one; false for a stream.
  [[nodiscard]] bool replaces() const { return target_.kind == OutputTarget::Kind::file; }

 private:
  void write_file(std::span<const std::string_view> parts) const;
  void write_stream(std::span<const std::string_view> parts) const;
  /// Throws WriteError with the reason that is in errno.
  [[noreturn]] void fail(const char* call) const;

  std::string what_;
  /// As messages name it.
  std::string name_;
  OutputTarget target_;
};

}  // namespace bench
