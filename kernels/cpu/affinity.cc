#include "kernels/cpu/affinity.h"

#include <pthread.h>
#include <sched.h>

#include <cstring>

#include "models/base/errors.h"

namespace bench::cpu {

std::vector<int> allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int status = pthread_getaffinity_np(pthread_self(), sizeof(set), &set);
  if (status != 0) {
    throw DeviceError(cat("pthread_getaffinity_np: ", std::strerror(status)));
  }
  std::vector<int> processors;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(static_cast<std::size_t>(processor), &set)) {
      processors.push_back(processor);
    }
  }
  return processors;
}

int allow_processors(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) {
    CPU_SET(static_cast<std::size_t>(processor), &set);
  }
  return pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

WithProcessors::WithProcessors(const std::vector<int>& processors) : before_(allowed_processors()) {
  const int status = allow_processors(processors);
  if (status != 0) {
    throw DeviceError(cat("pthread_setaffinity_np: ", std::strerror(status)));
  }
}

WithProcessors::~WithProcessors() { static_cast<void>(allow_processors(before_)); }

}  // namespace bench::cpu
