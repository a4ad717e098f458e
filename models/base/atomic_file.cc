#include "models/base/atomic_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "models/base/errors.h"
#include "models/base/temporary_file.h"

namespace bench {
namespace {

/// Returns false and sets errno on failure. Waits for a reader, even if the stream is non-blocking.
bool write_all(int fd, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(fd, contents.data(), contents.size());
    if (written < 0 && errno == EAGAIN) {
      pollfd room{.fd = fd, .events = POLLOUT, .revents = 0};
      (void)::poll(&room, 1, -1);
      continue;
    }
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool write_all(int fd, std::span<const std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (!write_all(fd, part)) return false;
  }
  return true;
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path, std::string_view what)
    : what_(what), target_(find_output(path, what)) {
  name_ = (replaces() ? target_.path : path).string();
  if (!replaces()) {
    return;
  }
  remove_abandoned(target_.path);
  const TemporaryFile file(target_.path);
  if (!file.open()) {
    const char* reason = std::strerror(errno);
    throw UsageError(fmt::format("cannot write the {} '{}': cannot create a file in '{}': {}",
                                 what_, path.string(), target_.path.parent_path().string(),
                                 reason));
  }
}

void AtomicFile::write(std::string_view contents) const { write(std::span(&contents, 1)); }

void AtomicFile::write(std::span<const std::string_view> parts) const {
  if (replaces()) {
    write_file(parts);
  } else {
    write_stream(parts);
  }
}

void AtomicFile::fail(const char* call) const {
  const char* reason = std::strerror(errno);
  throw WriteError(fmt::format("cannot write the {} '{}': {}: {}", what_, name_, call, reason));
}

void AtomicFile::write_file(std::span<const std::string_view> parts) const {
  TemporaryFile file(target_.path);
  if (!file.open()) fail("open");
  struct stat old {};
  if (::stat(target_.path.c_str(), &old) == 0) {
    // Only privileged users can change the owner.
    [[maybe_unused]] const int given = ::fchown(file.descriptor(), old.st_uid, old.st_gid);
    constexpr mode_t kModeBits = 0777;
    if (::fchmod(file.descriptor(), old.st_mode & kModeBits) != 0) fail("fchmod");
  }
  if (!write_all(file.descriptor(), parts)) fail("write");
  if (::fsync(file.descriptor()) != 0) fail("fsync");
  if (!file.rename_to(target_.path)) fail("rename");
  // The rename itself lasts once the folder is on the disk; file systems that cannot flush a folder
  // say so, and the file is complete all the same.
  const int folder = ::open(target_.path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    (void)::fsync(folder);
    (void)::close(folder);
  }
}

void AtomicFile::write_stream(std::span<const std::string_view> parts) const {
  if (target_.kind == OutputTarget::Kind::descriptor) {
    if (!write_all(target_.descriptor, parts)) fail("write");
    return;
  }
  // Without O_NONBLOCK, opening a pipe without a reader would block here.
  const int fd = ::open(target_.path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) fail(errno == ENXIO ? "open (no process reads it)" : "open");
  const bool written = write_all(fd, parts);
  const int reason = errno;
  const bool closed = ::close(fd) == 0;
  if (!written) {
    errno = reason;
    fail("write");
  }
  if (!closed) fail("close");
}

}  // namespace bench
