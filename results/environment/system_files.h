#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "results/record/captured.h"

namespace bench {

/// The kernel's files about the machine (/proc, /sys, /etc). Paths are those of the real system;
/// `root` lets a test use another tree.
class SystemFiles {
 public:
  explicit SystemFiles(std::filesystem::path root = "/");

  /// The whole text without trailing white space, or why it could not be read, with the path.
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

/// The lines of `text`, without line ends.
std::vector<std::string> lines_of(std::string_view text);

/// The words between white space.
std::vector<std::string> words_of(std::string_view text);

/// Parses all of `text` as an integer; unknown if it is not an integer.
Captured<std::int64_t> parse_integer(std::string_view text);

/// Parses a kernel list of processors: "0-3,8" is 0 1 2 3 8. Unknown, with a reason, for other
/// texts.
Captured<std::vector<int>> parse_processor_list(std::string_view text);

/// The value after `name` and a colon, without surrounding white space, as in /proc/meminfo and
/// /proc/self/status.
Captured<std::string> field_of(std::string_view text, std::string_view name);

}  // namespace bench
