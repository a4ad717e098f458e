#include "models/base/makeable_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "models/base/errors.h"

namespace bench {
namespace {

/// Zero, or the error of this access by the effective user.
int access_error(const std::filesystem::path& path, int mode) {
  return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0 ? 0 : errno;
}

}  // namespace

std::optional<std::string> why_no_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path there = std::filesystem::absolute(path.empty() ? "." : path, error);
  if (error) return error.message();
  int failure = access_error(there, F_OK);
  while (failure == ENOENT) {
    if (std::filesystem::is_symlink(there, error)) {
      return fmt::format("{} is a symbolic link to a missing file", there.string());
    }
    there = there.parent_path();
    failure = access_error(there, F_OK);
  }
  if (failure == 0) {
    failure =
        std::filesystem::is_directory(there, error) ? access_error(there, W_OK | X_OK) : ENOTDIR;
  }
  if (failure == 0) return std::nullopt;
  return fmt::format("{}: {}", there.string(), std::generic_category().message(failure));
}

}  // namespace bench
