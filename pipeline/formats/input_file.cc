#include "pipeline/formats/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "models/base/errors.h"

namespace bench {

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  // Without O_NONBLOCK, a pipe without a writer would block the thread here.
  file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  const bool known = file_ >= 0 && ::fstat(file_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    const std::string reason = known ? "it is not a regular file" : std::strerror(errno);
    if (file_ >= 0) {
      ::close(file_);
    }
    throw DataError(fmt::format("{}: cannot read the file: {}", path_, reason));
  }
  first_size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(file_); }

std::uint64_t InputFile::size() const {
  struct stat status {};
  return ::fstat(file_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : first_size_;
}

std::size_t InputFile::read(char* to, std::size_t bytes, std::uint64_t offset) const {
  while (true) {
    const ssize_t count = ::pread(file_, to, bytes, static_cast<off_t>(offset));
    if (count >= 0) {
      return static_cast<std::size_t>(count);
    }
    if (errno != EINTR) {
      throw DataError(fmt::format("{}, offset {}: cannot read the file: {}", path_, offset,
                                  std::strerror(errno)));
    }
  }
}

void InputFile::read_first(char* to, std::size_t bytes) const {
  std::size_t done = 0;
  while (done < bytes) {
    const std::size_t count = read(to + done, bytes - done, done);
    if (count == 0) {
      throw DataError(fmt::format("{}: the file has become shorter", path_));
    }
    done += count;
  }
}

void InputFile::advise(int advice, std::uint64_t offset, std::uint64_t bytes) const {
  ::posix_fadvise(file_, static_cast<off_t>(offset), static_cast<off_t>(bytes), advice);
}

}  // namespace bench
