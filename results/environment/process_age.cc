#include "results/environment/process_age.h"

#include <unistd.h>

#include <ctime>
#include <sstream>

namespace bench {

Captured<std::chrono::nanoseconds> process_age(const SystemFiles& files) {
  // Field 22 of /proc/self/stat is the start in clock ticks since boot. The name in parentheses may
  // contain spaces, so fields are counted from its end.
  constexpr int kFieldsAfterName = 20;
  const auto text = files.read("/proc/self/stat");
  if (!text.known()) {
    return Unknown{text.why()};
  }
  const std::size_t name_end = text.value().rfind(')');
  if (name_end == std::string::npos) {
    return Unknown{"/proc/self/stat has no name in parentheses"};
  }
  std::istringstream fields(text.value().substr(name_end + 1));
  std::string field;
  for (int i = 0; i < kFieldsAfterName && fields >> field; ++i) {
  }
  const long ticks_per_second = sysconf(_SC_CLK_TCK);
  timespec now{};
  const Captured<std::int64_t> ticks = parse_integer(fields ? field : "");
  if (!ticks.known() || ticks_per_second <= 0 || clock_gettime(CLOCK_BOOTTIME, &now) != 0) {
    return Unknown{"/proc/self/stat or the boot clock cannot be read"};
  }
  const auto started = std::chrono::nanoseconds(ticks.value() * (1'000'000'000 / ticks_per_second));
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec) - started;
}

}  // namespace bench
