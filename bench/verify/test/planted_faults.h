#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/plan/settings.h"
#include "kernels/forwarding_backend.h"

namespace bench {

/// A change to one output of a kernel that computed correctly.
struct SpoiledOutput {
  std::size_t output = 0;
  float factor = 1;
};

/// A fault planted for tests: in the network, in the kernels, or in the optimizer.
struct PlantedFault {
  std::string_view name;
  /// Returns the replacement of a node of the plain network in the graph under construction. The
  /// node's inputs are already renamed. nullopt: the node stays as it is. `nth` counts the nodes of
  /// its op, from 0.
  std::function<std::optional<std::vector<ValueId>>(Graph&, const Node&, int nth)> network = {};
  /// The attributes that replace those of a node when its kernel is made.
  std::function<std::optional<Attributes>(const Graph&, const Node&)> kernel = {};
  /// The outputs of a node to multiply, and their factors.
  std::function<std::vector<SpoiledOutput>(const Graph&, const Node&)> outputs = {};
  /// Changes the settings of the optimizer.
  std::function<void(OptimizerSettings&)> optimizer = {};
  /// The optimizer of the run.
  std::string_view optimizer_name = "momentum";
};

/// At least one fault for each property that a run's check claims to verify.
std::span<const PlantedFault> planted_faults();

/// The network with the fault; nullopt if the fault does not affect it.
std::optional<Graph> spoiled_network(const PlantedFault& fault, const Graph& network);

/// A backend that makes some kernels wrong. The underlying backend must outlive it, and must finish
/// computing before a launch returns.
class PlantedBackend final : public ForwardingBackend {
 public:
  PlantedBackend(Backend& inner, const PlantedFault& fault)
      : ForwardingBackend(inner), fault_(fault) {}

  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override;
  std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                            std::vector<OptimizerSegment> segments) override;
  /// The number of kernels or optimizers that were made wrong.
  [[nodiscard]] int touched() const { return touched_; }

 private:
  const PlantedFault& fault_;
  int touched_ = 0;
};

/// The first output of one node, multiplied by `factor`.
PlantedFault spoiled_node(std::string node, float factor);

}  // namespace bench
