#include "bench/logging.h"

#include <glog/logging.h>

namespace bench {

void start_logging(const char* program) {
  FLAGS_logtostderr = true;
  FLAGS_log_prefix = false;
  google::InitGoogleLogging(program);
}

}  // namespace bench
