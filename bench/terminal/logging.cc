#include "bench/terminal/logging.h"

#include <glog/logging.h>

#include <cstdio>

namespace bench {

void start_logging(const char* program) {
  FLAGS_logtostderr = true;
  FLAGS_log_prefix = false;
  google::InitGoogleLogging(program);
  // Standard output belongs to the program, so output of libraries (oneDNN with ONEDNN_VERBOSE)
  // goes to stderr. glibc allows stdout to be reassigned; std::cout keeps its original stream.
  std::fflush(stdout);
  stdout = stderr;
}

void silence_notes() { FLAGS_minloglevel = google::GLOG_FATAL; }

}  // namespace bench
