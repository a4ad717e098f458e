#include "models/base/threads.h"

namespace bench {

DeviceError no_thread(const std::system_error& error) {
  return DeviceError(fmt::format(
      "cannot start a thread: {}; check the limits on processes (ulimit -u, pids.max of the "
      "control group) and on address space (ulimit -v, ulimit -s)",
      error.code().message()));
}

}  // namespace bench
