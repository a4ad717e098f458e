#include "models/base/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <system_error>

#include "models/base/errors.h"

namespace bench {
namespace {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { (void)close_now(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  /// False, with errno, when the close reports a write that failed late.
  bool close_now() {
    const int fd = fd_;
    fd_ = -1;
    return fd < 0 || ::close(fd) == 0;
  }

 private:
  int fd_;
};

/// A new file for writing, or -1 with errno. The name holds our process number, so that one which
/// is there was left by a process that was killed and had the same number, as in containers.
int create(const std::filesystem::path& path) {
  ::unlink(path.c_str());
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

bool write_all(int fd, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(fd, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path, std::string_view what) : what_(what) {
  const std::string given = path.string();
  std::error_code error;
  if (!path.has_filename()) {
    throw UsageError(cat("cannot write the ", what_, " '", given, "': it names no file"));
  }
  path_ = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  if (error) {
    throw UsageError(cat("cannot write the ", what_, " '", given, "': ", error.message()));
  }
  const auto status = std::filesystem::status(path_, error);
  if (std::filesystem::is_directory(status)) {
    throw UsageError(cat("cannot write the ", what_, " '", given, "': it is a folder"));
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw UsageError(
        cat("cannot write the ", what_, " '", given, "': it is there and no ordinary file"));
  }
  const std::filesystem::path folder = path_.parent_path();
  if (!std::filesystem::is_directory(folder, error)) {
    throw UsageError(cat("cannot write the ", what_, " '", given, "': there is no folder '",
                         folder.string(), "'"));
  }
  temporary_ = folder / cat(".", path_.filename().string(), ".", ::getpid(), ".tmp");
  const Descriptor file(create(temporary_));
  if (!file.open()) {
    throw UsageError(cat("cannot write the ", what_, " '", given, "': no file can be made in '",
                         folder.string(), "': ", std::strerror(errno)));
  }
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view contents) const { write(std::span(&contents, 1)); }

void AtomicFile::write(std::span<const std::string_view> parts) const {
  // The reason is read from errno before anything else can change it.
  const auto fail = [this](const char* call) {
    const std::string reason = std::strerror(errno);
    ::unlink(temporary_.c_str());
    throw WriteError(
        cat("cannot write the ", what_, " '", path_.string(), "': ", call, ": ", reason));
  };
  Descriptor file(create(temporary_));
  if (!file.open()) fail("open");
  for (const std::string_view part : parts) {
    if (!write_all(file.get(), part)) fail("write");
  }
  if (::fsync(file.get()) != 0) fail("fsync");
  if (!file.close_now()) fail("close");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename");
  // The rename itself lasts once the folder is on the disk; file systems that cannot flush a folder
  // say so, and the file is complete all the same.
  const Descriptor folder(::open(path_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.open()) (void)::fsync(folder.get());
}

}  // namespace bench
