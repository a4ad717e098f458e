#include "models/base/threads.h"

#include <sched.h>

#include <algorithm>

namespace bench {

int usable_processors() {
  // Larger sets than cpu_set_t exist; then the call fails.
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0
             ? std::max(CPU_COUNT(&set), 1)
             : std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

DeviceError no_thread(const std::system_error& error) {
  return DeviceError(fmt::format(
      "cannot start a thread: {}; check the limits on processes (ulimit -u, pids.max of the "
      "control group) and on address space (ulimit -v, ulimit -s)",
      error.code().message()));
}

}  // namespace bench
