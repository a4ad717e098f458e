#pragma once

#include <future>
#include <memory>
#include <span>
#include <vector>

#include "kernels/optimizer.h"
#include "kernels/step_state.h"
#include "variable_mgmt/servers/protocol.h"
#include "variable_mgmt/world/world.h"

namespace bench {

/// A worker process's connection to the parameter servers, which are the world's ranks from
/// World::workers() on.
class ServerLink {
 public:
  /// `segments` describes the flat regions of variables and gradients, with elements of `width`
  /// bytes. `world` must outlive this.
  ServerLink(World& world, std::span<const OptimizerSegment> segments, std::size_t width);

  /// Sends first values to the servers, which then reset their slots. Only worker 0 does this;
  /// on others it has no effect. Waits until they are sent. Throws Cancelled.
  void set_variables(const std::byte* variables);
  /// Sends gradients, and waits for the new variables. Throws Cancelled.
  void exchange(const StepParameters& parameters, double loss_scale, const std::byte* gradients,
                std::byte* variables);
  /// The first server's reply to the last exchange().
  [[nodiscard]] const ServerReply& reply() const { return servers_.front().reply; }

 private:
  struct Server {
    int rank = 0;
    std::vector<OptimizerSegment> segments;
    std::shared_ptr<SharedBytes> sent;
    std::shared_ptr<SharedBytes> received;
    ServerReply reply = {};
  };

  /// Copies the server's segments from a flat region.
  void pack(const Server& server, const std::byte* region, std::byte* packed) const;

  World& world_;
  const std::size_t width_;
  std::vector<Server> servers_;
};

/// Reports to the parameter servers, if there are any, that this worker is done and exits with this
/// status. Waits until it is sent, or the world has failed.
void end_servers(World& world, int status) noexcept;

}  // namespace bench
