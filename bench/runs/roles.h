#pragma once

#include "bench/flags/flags.h"

namespace bench {

/// The roles of a run's processes: the first ranks are workers, the others parameter servers.
struct Roles {
  int workers = 1;
  int servers = 0;
};

/// The roles that --worker_hosts and --ps_hosts assign to `processes` processes. Without these
/// flags, all are workers. Throws UsageError if the flags name another number of processes.
Roles roles_of(const Flags& flags, int processes);

}  // namespace bench
