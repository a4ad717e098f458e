#include "bench/runs/serve.h"

#include "bench/plan/device.h"
#include "bench/plan/resolve_settings.h"
#include "variable_mgmt/servers/variable_server.h"

namespace bench {

int serve(const ParseResult& parsed, const Roles& roles, World& world) {
  world.set_phase("serving variables");
  const RunSettings settings =
      resolve_settings(parsed, {.processes = roles.workers, .servers = roles.servers});
  const Device device = make_device(settings);
  return serve_variables(world, *device.backend,
                         {.optimizer = strategy_settings(settings).optimizer,
                          .synchronous = !settings.workload.asynchronous});
}

}  // namespace bench
