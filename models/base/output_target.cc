#include "models/base/output_target.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <system_error>

#include "models/base/errors.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

std::string identity_of(const struct stat& status) {
  return fmt::format("inode {}:{}", status.st_dev, status.st_ino);
}

/// The number of an entry such as /proc/self/fd/1, its folder being in canonical form.
std::optional<int> own_descriptor(const fs::path& folder, const std::string& name) {
  for (const char* const own : {"/proc/self/fd", "/proc/thread-self/fd"}) {
    std::error_code error;
    if (fs::canonical(own, error) != folder || error) {
      continue;
    }
    int number = -1;
    const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (failed == std::errc() && end == name.data() + name.size() && number >= 0) {
      return number;
    }
  }
  return std::nullopt;
}

class Search {
 public:
  Search(const fs::path& path, std::string_view what) : path_(path.string()), what_(what) {}

  OutputTarget run(const fs::path& given) const {
    if (given == "-") {
      return descriptor(STDOUT_FILENO);
    }
    if (!given.has_filename()) {
      refuse("the path does not name a file");
    }
    std::error_code error;
    fs::path path = fs::absolute(given, error);
    if (error) {
      refuse(error.message());
    }
    constexpr int kMostLinks = 40;  // as many as the kernel follows
    for (int links = 0; links < kMostLinks; ++links) {
      const fs::path folder = folder_of(path);
      if (const auto number = own_descriptor(folder, path.filename().string())) {
        return descriptor(*number);
      }
      path = folder / path.filename();
      if (!fs::is_symlink(fs::symlink_status(path, error))) {
        return at(path);
      }
      const fs::path to = fs::read_symlink(path, error);
      if (error) {
        refuse(error.message());
      }
      path = to.is_absolute() ? to : folder / to;
    }
    refuse("its symbolic links form a loop");
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw UsageError(fmt::format("cannot write the {} '{}': {}", what_, path_, why));
  }

  [[nodiscard]] fs::path folder_of(const fs::path& path) const {
    std::error_code error;
    const fs::path folder = path.parent_path();
    fs::path canonical = fs::canonical(folder, error);
    if (error && error != std::errc::no_such_file_or_directory &&
        error != std::errc::not_a_directory) {
      refuse(fmt::format("'{}': {}", folder.string(), error.message()));
    }
    if (error) {
      refuse(fmt::format("the folder '{}' does not exist", folder.string()));
    }
    if (!fs::is_directory(canonical, error)) {
      refuse(fmt::format("'{}' is not a folder", folder.string()));
    }
    return canonical;
  }

  [[nodiscard]] OutputTarget at(const fs::path& path) const {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
      if (errno != ENOENT) {
        refuse(std::strerror(errno));
      }
      return {.path = path};
    }
    if (S_ISDIR(status.st_mode)) {
      refuse("it is a folder");
    }
    if (S_ISREG(status.st_mode)) {
      return {.path = path};
    }
    if (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode)) {
      if (::access(path.c_str(), W_OK) != 0) {
        refuse(std::strerror(errno));
      }
      return {.kind = OutputTarget::Kind::stream, .path = path};
    }
    refuse("it is not a regular file, a pipe or a character device");
  }

  [[nodiscard]] OutputTarget descriptor(int number) const {
    const int flags = ::fcntl(number, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
      refuse(fmt::format("descriptor {} is not open for writing", number));
    }
    return {.kind = OutputTarget::Kind::descriptor, .descriptor = number};
  }

  std::string path_;
  std::string_view what_;
};

}  // namespace

std::string OutputTarget::identity() const {
  struct stat status {};
  const bool there = kind == Kind::descriptor ? ::fstat(descriptor, &status) == 0
                                              : ::stat(path.c_str(), &status) == 0;
  if (there) {
    return S_ISCHR(status.st_mode) ? "" : identity_of(status);
  }
  return fmt::format("{} {}", file_identity(path.parent_path()), path.filename().string());
}

std::string file_identity(const std::filesystem::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? identity_of(status) : "";
}

std::string regular_file_identity(int descriptor) {
  struct stat status {};
  const bool regular = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  return regular ? identity_of(status) : "";
}

OutputTarget find_output(const std::filesystem::path& path, std::string_view what) {
  return Search(path, what).run(path);
}

}  // namespace bench
