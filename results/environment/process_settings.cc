#include "results/environment/process_settings.h"

#include <sched.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "models/base/errors.h"
#include "results/record/identity.h"

namespace bench {
namespace {

Captured<std::string> scheduling() {
  switch (sched_getscheduler(0)) {
    case SCHED_OTHER:
      return "other";
    case SCHED_BATCH:
      return "batch";
    case SCHED_IDLE:
      return "idle";
    case SCHED_FIFO:
      return "fifo";
    case SCHED_RR:
      return "rr";
    case -1:
      return Unknown{fmt::format("sched_getscheduler failed: {}", std::strerror(errno))};
    default:
      return Unknown{"unknown scheduling policy"};
  }
}

Captured<int> nice_value() {
  errno = 0;  // -1 is a valid priority, too.
  const int nice = getpriority(PRIO_PROCESS, 0);
  if (nice == -1 && errno != 0) {
    return Unknown{fmt::format("getpriority failed: {}", std::strerror(errno))};
  }
  return nice;
}

template <class Resource>
Captured<std::int64_t> limit_of(Resource resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) {
    return Unknown{fmt::format("getrlimit failed: {}", std::strerror(errno))};
  }
  if (limit.rlim_cur == RLIM_INFINITY) return Unknown{"unlimited"};
  return static_cast<std::int64_t>(limit.rlim_cur);
}

Captured<std::string> hash_program() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  if (!file) return Unknown{"cannot open /proc/self/exe"};
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (!bytes) return Unknown{"cannot read /proc/self/exe"};
  return results::sha256_hex(bytes.view());
}

}  // namespace

results::Process capture_process(const SystemFiles& files) {
  const Captured<std::int64_t> layout = files.read_integer("/proc/sys/kernel/randomize_va_space");
  return {.nice = nice_value(),
          .scheduling = scheduling(),
          .address_randomization = layout.known() ? Captured<int>(static_cast<int>(layout.value()))
                                                  : Captured<int>(Unknown{layout.why()}),
          .limit_memlock = limit_of(RLIMIT_MEMLOCK),
          .limit_address_space = limit_of(RLIMIT_AS),
          .limit_stack = limit_of(RLIMIT_STACK)};
}

const Captured<std::string>& program_sha256() {
  static const Captured<std::string> kHash = hash_program();
  return kHash;
}

}  // namespace bench
