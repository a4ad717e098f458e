#include "bench/host/logging.h"

#include <glog/logging.h>

#include <cstdio>

namespace bench {

void start_logging(const char* program) {
  FLAGS_logtostderr = true;
  FLAGS_log_prefix = false;
  google::InitGoogleLogging(program);
  // Standard output is the program's: what a library prints (oneDNN with ONEDNN_VERBOSE) follows
  // the messages. glibc lets its stream be set; std::cout keeps the one it began with.
  std::fflush(stdout);
  stdout = stderr;
}

}  // namespace bench
