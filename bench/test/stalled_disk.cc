// Simulates a disk that stops answering, linked into the program. Its pread() replaces that of the
// system's library. It serves STALLS_BEHIND reads of a dataset's blocks, then none.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" ssize_t pread(int file, void* to, size_t bytes, off_t offset) {
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  static std::atomic<int> left = std::stoi(std::getenv("STALLS_BEHIND"));
  if (bytes < kBlock || left-- > 0) {
    return syscall(SYS_pread64, file, to, bytes, offset);
  }
  constexpr std::string_view kNotice = "the disk is stalled\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kNotice.data(), kNotice.size());
  for (;;) {
    pause();
  }
}
