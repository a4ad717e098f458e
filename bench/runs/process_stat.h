#pragma once

#include <sys/types.h>

#include <optional>

namespace bench {

/// A process on this host, from /proc/PID/stat.
struct ProcessStat {
  char state = 0;  ///< For example 'T' if it is stopped, 'Z' if it has ended.
  pid_t parent = 0;
};

/// Returns nothing if the process does not exist.
std::optional<ProcessStat> process_stat(pid_t process);

}  // namespace bench
