#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace bench {

/// Where the path of an output leads: links followed, the place of a file not made yet included.
struct OutputTarget {
  enum class Kind : std::uint8_t {
    file,        ///< A regular file at `path`, there already or not.
    stream,      ///< A pipe or a character device at `path`: written to, never replaced.
    descriptor,  ///< One of this program's own, as /dev/stdout and /dev/fd/3 name them.
  };
  Kind kind = Kind::file;
  std::filesystem::path path = {};
  int descriptor = -1;

  /// Equal for two outputs of which one would be written over the other, however they are spelled;
  /// empty for a character device, such as a terminal or /dev/null, which takes any number.
  [[nodiscard]] std::string identity() const;
};

/// The same text for a file that is there as OutputTarget::identity gives; empty when it is not.
std::string file_identity(const std::filesystem::path& path);
/// The same for an open descriptor that leads to a regular file; empty otherwise.
std::string regular_file_identity(int descriptor);

/// `-` is standard output. Throws UsageError, naming the path, when it names no file, a folder, a
/// socket or a block device, something in a folder that is not there, or a descriptor that is not
/// open for writing. `what` is how messages call the output.
OutputTarget find_output(const std::filesystem::path& path, std::string_view what);

}  // namespace bench
