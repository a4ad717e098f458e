#pragma once

#include <filesystem>
#include <string_view>

namespace bench {

/// A new file in the folder of the file it will replace. It is locked while it is open, so that
/// other programs can distinguish it from one whose program was killed. The destructor removes it
/// unless it was renamed.
class TemporaryFile {
 public:
  /// Creates `.NAME.PID.tmp` next to `.../NAME`. On failure open() is false and errno has the
  /// reason.
  explicit TemporaryFile(const std::filesystem::path& beside);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] bool open() const { return fd_ >= 0; }
  [[nodiscard]] int descriptor() const { return fd_; }
  /// Renames it to `path`, replacing any file there; returns false and sets errno on failure.
  bool rename_to(const std::filesystem::path& path);

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

/// Removes temporary files for `beside` that no program has open and that have not changed for an
/// hour. Killed programs left them. A lock by a program on another machine may be invisible, but
/// its writes are not. Files that cannot be examined stay.
void remove_abandoned(const std::filesystem::path& beside);
/// The same for every file in this folder whose name ends in `ending`, such as ".json".
void remove_abandoned_in(const std::filesystem::path& folder, std::string_view ending);

}  // namespace bench
