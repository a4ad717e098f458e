#pragma once

namespace bench {

/// Sets up glog for the program: plain sentences on stderr, without prefix, log files or stack
/// traces. main calls it once.
void start_logging(const char* program);

/// From now on, glog prints nothing but fatal errors.
void silence_notes();

}  // namespace bench
