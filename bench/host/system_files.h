#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "results/captured.h"

namespace bench {

/// The files in which the kernel tells about the machine (/proc, /sys, /etc). Paths are given as on
/// the real system; a test puts a tree of its own at `root`.
class SystemFiles {
 public:
  explicit SystemFiles(std::filesystem::path root = "/");

  /// The whole text without white space at its end, or why it could not be read, naming the path.
  Captured<std::string> read(std::string_view path) const;

  /// The first number in the file.
  Captured<std::int64_t> read_integer(std::string_view path) const;

  /// The names in a folder, sorted, or why it cannot be read.
  Captured<std::vector<std::string>> names_in(std::string_view path) const;

  bool exists(std::string_view path) const;
  bool is_folder(std::string_view path) const;

 private:
  std::filesystem::path real(std::string_view path) const;

  std::filesystem::path root_;
};

/// The lines of `text`, without their ends.
std::vector<std::string> lines_of(std::string_view text);

/// What stands between white space.
std::vector<std::string> words_of(std::string_view text);

/// The integer that all of `text` is, or why it is none.
Captured<std::int64_t> parse_integer(std::string_view text);

/// The processors of a kernel list such as "0-3,8": 0 1 2 3 8. What is no list gives a reason.
Captured<std::vector<int>> parse_processor_list(std::string_view text);

/// The value behind `name` and a colon, as /proc/meminfo and /proc/self/status have it, without
/// white space around it.
Captured<std::string> field_of(std::string_view text, std::string_view name);

}  // namespace bench
