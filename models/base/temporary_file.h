#pragma once

#include <filesystem>
#include <string_view>

namespace bench {

/// A new file beside the one it is to replace. It is locked while it is open, so that others can
/// tell it from one whose program was killed; it is removed with the object unless it was renamed.
class TemporaryFile {
 public:
  /// Makes `.NAME.PID.tmp` beside `.../NAME`; on failure open() is false and errno says why.
  explicit TemporaryFile(const std::filesystem::path& beside);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] bool open() const { return fd_ >= 0; }
  [[nodiscard]] int descriptor() const { return fd_; }
  /// Puts it in the place of `path`; false with errno.
  bool rename_to(const std::filesystem::path& path);

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

/// Removes the temporary files of `beside` that no program has open any more and that have not
/// changed for an hour: those of programs that were killed while they wrote. A program on another
/// machine may be unseen, but not that it writes. What cannot be looked at stays.
void remove_abandoned(const std::filesystem::path& beside);
/// The same of every file of this folder whose name ends in `ending`, such as ".json".
void remove_abandoned_in(const std::filesystem::path& folder, std::string_view ending);

}  // namespace bench
