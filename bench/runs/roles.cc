#include "bench/runs/roles.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "bench/flags/table.h"
#include "models/base/errors.h"

namespace bench {
namespace {

int hosts_in(std::string_view flag, const std::string& text) {
  const std::vector<std::string> hosts = split_text(text, ',');
  if (std::any_of(hosts.begin(), hosts.end(), [](const auto& host) { return host.empty(); })) {
    throw UsageError(
        fmt::format("--{}={}: a name is empty; write host:port,host:port", flag, text));
  }
  return static_cast<int>(hosts.size());
}

}  // namespace

Roles roles_of(const Flags& flags, int processes) {
  if (flags.predict_ranks && processes == 1) {
    throw UsageError(
        "--predict_ranks needs at least two processes, whose link bench measures: start them with "
        "--np=2, --hosts or a launcher");
  }
  const bool shares = flags.variable_update == "parameter_server" && !flags.forward_only;
  if (shares && processes > 1 && flags.ps_hosts.empty()) {
    throw UsageError(fmt::format(
        "--variable_update=parameter_server: name the workers and the parameter servers among the "
        "{} "
        "processes with --worker_hosts and --ps_hosts, or use --variable_update=horovod",
        processes));
  }
  if (flags.worker_hosts.empty()) {
    return {.workers = processes};
  }
  const Roles roles{.workers = hosts_in("worker_hosts", flags.worker_hosts),
                    .servers = hosts_in("ps_hosts", flags.ps_hosts)};
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
