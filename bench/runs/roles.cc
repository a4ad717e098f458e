#include "bench/runs/roles.h"

#include <string>

#include "bench/flags/table.h"
#include "models/base/errors.h"

namespace bench {

Roles roles_of(const Flags& flags, int processes) {
  if (flags.predict_ranks && processes == 1) {
    throw UsageError(
        "--predict_ranks needs at least two processes, whose link bench measures: start them with "
        "--np=2, --hosts or a launcher");
  }
  if (flags.worker_hosts.empty()) {
    const bool shares = flags.variable_update == "parameter_server" && !flags.forward_only;
    if (shares && processes > 1) {
      throw UsageError(fmt::format(
          "--variable_update=parameter_server: {} processes were started; name the workers and the "
          "parameter servers among them with --worker_hosts and --ps_hosts, or use "
          "--variable_update=horovod",
          processes));
    }
    return {.workers = processes};
  }
  const Roles roles{.workers = static_cast<int>(split_text(flags.worker_hosts, ',').size()),
                    .servers = static_cast<int>(split_text(flags.ps_hosts, ',').size())};
  if (const int wanted = roles.workers + roles.servers; wanted != processes) {
    const std::string servers =
        roles.servers == 0 ? "" : fmt::format(" and --ps_hosts {}", roles.servers);
    throw UsageError(fmt::format(
        "--worker_hosts names {} {}{}, but {} {}: start {} with --np={}, --hosts or a launcher",
        roles.workers, roles.workers == 1 ? "worker" : "workers", servers, processes,
        processes == 1 ? "process runs" : "processes run", wanted, wanted));
  }
  return roles;
}

}  // namespace bench
