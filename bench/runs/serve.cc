#include "bench/runs/serve.h"

#include "variable_mgmt/servers/variable_server.h"

namespace bench {

Device make_server_device(const RunSettings& settings) {
  RunSettings own = settings;
  own.workload.towers = 1;
  return make_device(own);
}

int serve(const RunSettings& settings, Backend& backend, World& world) {
  world.set_phase("serving variables");
  return serve_variables(world, backend,
                         {.optimizer = strategy_settings(settings).optimizer,
                          .synchronous = !settings.workload.asynchronous});
}

}  // namespace bench
