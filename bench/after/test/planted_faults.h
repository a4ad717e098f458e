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

/// What is done to one output of a kernel that computed right.
struct SpoiledOutput {
  std::size_t output = 0;
  float factor = 1;
};

/// A fault planted for tests: in the network, in the kernels, or in the optimizer.
struct PlantedFault {
  std::string_view name;
  /// The node that stands for one of the plain network, in the graph under construction; its inputs
  /// are renamed. None: it stays as it is. `nth` counts the nodes of its op, from 0.
  std::function<std::optional<std::vector<ValueId>>(Graph&, const Node&, int nth)> network = {};
  /// The attributes with which a node's kernel is made instead of its own.
  std::function<std::optional<Attributes>(const Graph&, const Node&)> kernel = {};
  /// Which of a node's outputs are multiplied, by what.
  std::function<std::vector<SpoiledOutput>(const Graph&, const Node&)> outputs = {};
  /// What the optimizer is made with.
  std::function<void(OptimizerSettings&)> optimizer = {};
  /// That of the run.
  std::string_view optimizer_name = "momentum";
};

/// At least one for each thing that a run's check claims to see.
std::span<const PlantedFault> planted_faults();

/// The network with the fault in it; none where the fault does not touch it.
std::optional<Graph> spoiled_network(const PlantedFault& fault, const Graph& network);

/// A backend that makes some kernels wrong. The other one has to outlive it and to compute before
/// its launches return.
class PlantedBackend final : public ForwardingBackend {
 public:
  PlantedBackend(Backend& inner, const PlantedFault& fault)
      : ForwardingBackend(inner), fault_(fault) {}

  std::vector<Candidate> candidates(const Graph& graph, const Node& node,
                                    DataFormat format) override;
  std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                            std::vector<OptimizerSegment> segments) override;
  /// How many kernels, or optimizers, were made wrong.
  [[nodiscard]] int touched() const { return touched_; }

 private:
  const PlantedFault& fault_;
  int touched_ = 0;
};

/// One node's first output, too large by a factor.
PlantedFault spoiled_node(std::string node, float factor);

}  // namespace bench
