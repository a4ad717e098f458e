#include "models/base/temporary_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <string>
#include <system_error>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::string_view kSuffix = ".tmp";

std::string prefix_of(const std::filesystem::path& beside) {
  return fmt::format(".{}.", beside.filename().string());
}

/// The text before the number if TemporaryFile gave the name; otherwise empty. A name is prefix,
/// process, perhaps "-1", suffix.
std::string_view prefix_in(std::string_view name) {
  if (!name.ends_with(kSuffix)) {
    return {};
  }
  name.remove_suffix(kSuffix.size());
  const std::size_t last = name.find_last_not_of("0123456789-");
  if (last == name.npos || last + 1 == name.size() || name.front() != '.' || name[last] != '.') {
    return {};
  }
  return name.substr(0, last + 1);
}

/// Longer than a program pauses while it writes a file, and longer than clocks differ.
constexpr std::time_t kAbandonedAfterSeconds = 3600;

void remove_if_abandoned(const std::filesystem::path& path) {
  // NFS refuses an exclusive lock on a file that is open only for reading.
  const int fd = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    return;
  }
  struct stat status {};
  const bool old = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                   std::time(nullptr) - status.st_mtime >= kAbandonedAfterSeconds;
  // The lock alone is not enough: another machine's lock can be invisible. Some file systems keep
  // locks local to each machine, as Lustre (localflock) and NFS (local_lock) may.
  if (old && ::flock(fd, LOCK_EX | LOCK_NB) == 0) {
    (void)::unlink(path.c_str());
  }
  (void)::close(fd);
}

/// The temporary files in this folder that have a wanted prefix.
template <class Wanted>
void remove_where(const std::filesystem::path& folder, const Wanted& wanted) {
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  for (const std::filesystem::directory_iterator end; !error && entries != end;
       entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    if (const std::string_view prefix = prefix_in(name); !prefix.empty() && wanted(prefix)) {
      remove_if_abandoned(entries->path());
    }
  }
}

}  // namespace

TemporaryFile::TemporaryFile(const std::filesystem::path& beside) {
  constexpr int kMostNames = 100;
  for (int i = 0; i < kMostNames && fd_ < 0; ++i) {
    // Programs in different containers may have the same process ID.
    const std::string number =
        i == 0 ? fmt::format("{}", ::getpid()) : fmt::format("{}-{}", ::getpid(), i);
    path_ = beside.parent_path() / fmt::format("{}{}{}", prefix_of(beside), number, kSuffix);
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno != EEXIST) {
      return;
    }
    if (fd_ < 0) {
      continue;
    }
    // On a file system without locks, other programs do not treat the file as abandoned either.
    (void)::flock(fd_, LOCK_EX);
    struct stat status {};
    if (::fstat(fd_, &status) == 0 && status.st_nlink == 0) {
      // Another program removed the file as abandoned between the two calls above.
      (void)::close(fd_);
      fd_ = -1;
    }
  }
}

TemporaryFile::~TemporaryFile() {
  if (fd_ >= 0) {
    // Keeps errno for callers, who report why the file is given up.
    const int reason = errno;
    (void)::unlink(path_.c_str());
    (void)::close(fd_);
    errno = reason;
  }
}

bool TemporaryFile::rename_to(const std::filesystem::path& path) {
  if (std::rename(path_.c_str(), path.c_str()) != 0) {
    return false;
  }
  (void)::close(fd_);
  fd_ = -1;
  return true;
}

void remove_abandoned(const std::filesystem::path& beside) {
  const std::string prefix = prefix_of(beside);
  remove_where(beside.parent_path(), [&](std::string_view found) { return found == prefix; });
}

void remove_abandoned_in(const std::filesystem::path& folder, std::string_view ending) {
  const std::string end = fmt::format("{}.", ending);
  remove_where(folder, [&](std::string_view found) {
    return found.size() > end.size() + 1 && found.ends_with(end);
  });
}

}  // namespace bench
