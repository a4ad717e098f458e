#include "models/base/threads.h"

namespace bench {

DeviceError no_thread(const std::system_error& error) {
  return DeviceError(
      cat("a thread cannot be started: ", error.code().message(),
          "; the number of processes may be limited (ulimit -u, pids.max of the control group), or "
          "the address space (ulimit -v, ulimit -s)"));
}

}  // namespace bench
