#include "pipeline/stages/cpu_clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace bench {

ThreadClock::ThreadClock()
    : schedstat_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)),
      delayed_(delayed()) {}

ThreadClock::~ThreadClock() {
  if (schedstat_ >= 0) {
    ::close(schedstat_);
  }
}

std::chrono::nanoseconds ThreadClock::delayed() const {
  // "RUNNING DELAYED SLICES", both in nanoseconds.
  std::array<char, 128> text{};
  const ssize_t size = schedstat_ < 0 ? -1 : ::pread(schedstat_, text.data(), text.size(), 0);
  if (size <= 0) {
    return {};
  }
  const std::string_view line(text.data(), static_cast<std::size_t>(size));
  const std::size_t space = line.find(' ');
  std::int64_t nanoseconds = 0;
  if (space == std::string_view::npos ||
      std::from_chars(line.data() + space + 1, line.data() + line.size(), nanoseconds).ec !=
          std::errc()) {
    return {};
  }
  return std::chrono::nanoseconds(nanoseconds);
}

ThreadTimes ThreadClock::take() {
  ThreadTimes times = std::exchange(times_, {});
  times.processor = processor_.lap();
  const auto now = delayed();
  times.delayed = now - std::exchange(delayed_, now);
  taken_ = wall_;
  return times;
}

}  // namespace bench
