#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "models/base/output_target.h"

namespace bench {

/// A file that is written completely or not at all: readers see the old contents or the new ones. A
/// path can also lead to a stream: a pipe, a terminal, /dev/null, /dev/stdout, or `-` for standard
/// output. Writes to a stream append to it directly and replace nothing.
class AtomicFile {
 public:
  /// Checks `path` by creating and removing a temporary file in its folder. Also removes temporary
  /// files for this path that killed programs left there more than an hour ago. Follows symbolic
  /// links, even to missing files. Throws like find_output(), and UsageError if no file can be
  /// created in the folder. `what` names the file in messages.
  explicit AtomicFile(const std::filesystem::path& path, std::string_view what = "result file");

  /// Writes a temporary file in the same folder, flushes it to disk and renames it. Waits for the
  /// disk, or for the reader of a pipe. An existing file keeps its mode, and its owner if the
  /// system allows it. Throws WriteError with the path and the failed call; the old contents then
  /// remain.
  void write(std::string_view contents) const;
  /// Writes contents that are split over several parts, in order.
  void write(std::span<const std::string_view> parts) const;

  /// Returns true if a further write replaces the last one; false for a stream.
  [[nodiscard]] bool replaces() const { return target_.kind == OutputTarget::Kind::file; }

 private:
  void write_file(std::span<const std::string_view> parts) const;
  void write_stream(std::span<const std::string_view> parts) const;
  /// Throws WriteError with the reason in errno.
  [[noreturn]] void fail(const char* call) const;

  std::string what_;
  /// The name that messages use.
  std::string name_;
  OutputTarget target_;
};

}  // namespace bench
