#pragma once

namespace bench {

/// Sets glog up for the program: plain sentences on standard error, without prefix, log files or
/// stack traces. To be called once, by main.
void start_logging(const char* program);

}  // namespace bench
