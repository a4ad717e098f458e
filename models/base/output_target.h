#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace bench {

/// The final target of an output path, with links followed; the target may not exist yet.
struct OutputTarget {
  enum class Kind : std::uint8_t {
    file,        ///< A regular file at `path`, which may not exist yet.
    stream,      ///< A pipe or a character device at `path`: written to, never replaced.
    descriptor,  ///< A descriptor of this program, such as /dev/stdout or /dev/fd/3.
  };
  Kind kind = Kind::file;
  std::filesystem::path path = {};
  int descriptor = -1;

  /// Equal for two outputs if one would overwrite the other, however they are spelled. Empty for a
  /// character device (a terminal, /dev/null), which takes any number of outputs.
  [[nodiscard]] std::string identity() const;
};

/// The same text as OutputTarget::identity() for an existing file; else empty.
std::string file_identity(const std::filesystem::path& path);
/// The same text for an open descriptor of a regular file; empty otherwise.
std::string regular_file_identity(int descriptor);

/// Finds the target of `path`; `-` is standard output. `what` names the output in messages. Throws
/// UsageError with the path if it does not name a file, or names a folder, a socket or a block
/// device. Also throws for a missing folder, and for a descriptor that is not open for writing.
OutputTarget find_output(const std::filesystem::path& path, std::string_view what);

}  // namespace bench
