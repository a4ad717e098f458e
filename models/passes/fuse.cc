#include "models/passes/fuse.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/add.h"
#include "models/ops/bias_add.h"
#include "models/ops/epilogue.h"
#include "models/passes/graph_copy.h"

namespace bench {
namespace {

/// `epilogue` of a `carrier`, extended by the work of the following `node`, if the order bias,
/// residual, activation allows it.
std::optional<Epilogue> extend(const EpilogueCarrier& carrier, Epilogue epilogue,
                               const Node& node) {
  if (epilogue.activation != ActivationKind::none) {
    return std::nullopt;
  }
  if (node.op == &kActivation) {
    // A fused node does not keep the activation's input, which some derivatives need.
    epilogue.activation = node.attributes.as<ActivationAttributes>().kind;
    return derivative_from_output(epilogue.activation) ? std::optional(epilogue) : std::nullopt;
  }
  if (node.op == &kBiasAdd && carrier.bias && !epilogue.bias && !epilogue.residual) {
    epilogue.bias = true;
    return epilogue;
  }
  if (node.op == &kAdd && carrier.residual && !epilogue.residual) {
    epilogue.residual = true;
    return epilogue;
  }
  return std::nullopt;
}

/// What a carrier absorbs: its new epilogue, the further inputs and the last absorbed node.
struct Fusion {
  Epilogue epilogue;
  std::vector<ValueId> extra_inputs;
  std::size_t last = 0;
};

struct FusionPlan {
  /// Indexed by the carrying node.
  std::vector<std::optional<Fusion>> fusions;
  /// The node that absorbs each node; the node itself if none does.
  std::vector<std::size_t> carrier_of;
};

class Fuser {
 public:
  Fuser(const Graph& graph, const SupportQuery& supports)
      : graph_(graph), supports_(supports), uses_(count_uses(graph)) {}

  FusionPlan plan() {
    const std::size_t count = graph_.nodes().size();
    FusionPlan plan{.fusions = std::vector<std::optional<Fusion>>(count),
                    .carrier_of = std::vector<std::size_t>(count)};
    std::iota(plan.carrier_of.begin(), plan.carrier_of.end(), 0);
    for (std::size_t i = 0; i < count; ++i) {
      const Node& node = graph_.nodes()[i];
      // An add extends the later of its two inputs, because the other one exists by then.
      for (const std::size_t input : candidate_inputs(node)) {
        const Value& value = graph_.value(node.inputs[input]);
        if (value.origin != Value::Origin::node || value.position != 0 ||
            uses_[at(node.inputs[input])] != 1) {
          continue;
        }
        const std::size_t target = plan.carrier_of[static_cast<std::size_t>(value.producer)];
        if (auto fusion = try_absorb(plan.fusions[target], target, i, input)) {
          plan.fusions[target] = std::move(fusion);
          plan.carrier_of[i] = target;
          break;
        }
      }
    }
    return plan;
  }

 private:
  [[nodiscard]] std::vector<std::size_t> candidate_inputs(const Node& node) const {
    if (node.op == &kActivation || node.op == &kBiasAdd) {
      return {0};
    }
    if (node.op == &kAdd) {
      const bool second_later =
          graph_.value(node.inputs[1]).producer > graph_.value(node.inputs[0]).producer;
      return second_later ? std::vector<std::size_t>{1, 0} : std::vector<std::size_t>{0, 1};
    }
    return {};
  }

  [[nodiscard]] std::optional<Fusion> try_absorb(const std::optional<Fusion>& before,
                                                 std::size_t target, std::size_t index,
                                                 std::size_t input) const {
    const Node& producer = graph_.nodes()[target];
    const Node& node = graph_.nodes()[index];
    const EpilogueCarrier* const carrier = producer.op->epilogue;
    if (carrier == nullptr) {
      return std::nullopt;
    }
    Fusion fusion = before.value_or(
        Fusion{.epilogue = carrier->get(producer.attributes), .extra_inputs = {}, .last = target});
    const auto extended = extend(*carrier, fusion.epilogue, node);
    if (!extended) {
      return std::nullopt;
    }
    fusion.epilogue = *extended;
    fusion.last = index;
    if (node.op != &kActivation) {
      fusion.extra_inputs.push_back(node.inputs[1 - input]);
    }
    Node fused = producer;
    fused.attributes = carrier->with(producer.attributes, fusion.epilogue);
    fused.inputs.insert(fused.inputs.end(), fusion.extra_inputs.begin(), fusion.extra_inputs.end());
    if (!supports_(graph_, fused)) {
      return std::nullopt;
    }
    return fusion;
  }

  const Graph& graph_;
  const SupportQuery& supports_;
  std::vector<int> uses_;
};

}  // namespace

Graph fuse(const Graph& graph, const SupportQuery& supports) {
  const FusionPlan plan = Fuser(graph, supports).plan();
  GraphCopy copy(graph);
  copy.add_inputs();
  copy.add_variables();
  // A fused node takes the place of its last part, since a residual must exist by then. Readers of
  // its other outputs (batch norm's statistics) wait for it.
  std::vector<Node> waiting;
  const auto emit_ready = [&] {
    std::erase_if(waiting, [&](const Node& node) {
      const bool ready = std::all_of(node.inputs.begin(), node.inputs.end(),
                                     [&](ValueId id) { return copy[id].valid(); });
      if (ready) {
        copy.append_node(node);
      }
      return ready;
    });
  };
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const std::size_t carrier = plan.carrier_of[i];
    const auto& fusion = plan.fusions[carrier];
    if (!fusion) {
      waiting.push_back(graph.nodes()[i]);
    } else if (fusion->last == i) {
      Node node = graph.nodes()[carrier];
      node.attributes = node.op->epilogue->with(node.attributes, fusion->epilogue);
      node.inputs.insert(node.inputs.end(), fusion->extra_inputs.begin(),
                         fusion->extra_inputs.end());
      node.outputs[0] = graph.nodes()[i].outputs[0];
      waiting.push_back(std::move(node));
    }
    emit_ready();
  }
  for (std::size_t before = waiting.size() + 1; waiting.size() < before;) {
    before = waiting.size();
    emit_ready();
  }
  check(waiting.empty(), "fuse: a node reads a value that is never computed");
  copy.add_outputs();
  copy.add_updates_and_gradients();
  return std::move(copy.graph());
}

}  // namespace bench
