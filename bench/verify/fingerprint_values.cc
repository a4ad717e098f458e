#include "bench/verify/fingerprint_values.h"

#include <algorithm>
#include <map>
#include <set>

#include "models/base/errors.h"
#include "models/ops/add.h"
#include "models/ops/batch_norm.h"
#include "models/ops/concat.h"
#include "models/ops/pool.h"

namespace bench {
namespace {

constexpr std::uint64_t kSeed = 0x62656E636C;
constexpr double kSpread = 0.1;
// Moves batch norm's output so that a subsequent ReLU cuts one value of 700. A ReLU that cuts half
// of the values has many inputs within rounding of 0. Rounding then changes the gradients of a
// hundred layers by one per cent.
constexpr float kShift = 3;
// The same, and the factor of gamma, for a batch norm that is added to another value. A hundred
// such sums stay as far from 0. They also do not grow until 16 bits could not distinguish images.
constexpr float kBranchShift = 0.1F;
constexpr float kBranchScale = 0.2F;
// Scales the fully connected layers of networks with batch norm, whose features are that much
// larger. Otherwise the softmax would be almost certain, and a right guess would have no gradient.
constexpr float kHeadScale = 1.0F / 64;

bool is_batch_norm(const Node& node) {
  return node.op == &kBatchNorm || node.op == &kBatchNormInference;
}

/// The outputs of batch norms that are added to another value. In a sum of two such outputs, only
/// the first.
std::set<ValueId> branches(const Graph& network) {
  std::set<ValueId> normalised;
  std::set<ValueId> found;
  for (const Node& node : network.nodes()) {
    if (is_batch_norm(node)) {
      normalised.insert(node.outputs.at(0));
    }
    if (node.op == &kAdd) {
      const auto branch = std::find_if(node.inputs.begin(), node.inputs.end(),
                                       [&](ValueId id) { return normalised.contains(id); });
      if (branch != node.inputs.end()) {
        found.insert(*branch);
      }
    }
  }
  return found;
}

/// The scales and shifts of those batch norms.
std::set<ValueId> variables_of_branches(const Graph& network) {
  const std::set<ValueId> added = branches(network);
  std::set<ValueId> found;
  for (const Node& node : network.nodes()) {
    if (is_batch_norm(node) && added.contains(node.outputs.at(0))) {
      found.insert(node.inputs.begin() + 1, node.inputs.end());
    }
  }
  return found;
}

FingerprintKind kind_of(const Variable& variable) {
  switch (variable.role) {
    case VariableRole::weight:
      return FingerprintKind::weight_gradients;
    case VariableRole::bias:
    case VariableRole::undecayed_bias:
      return FingerprintKind::bias_gradients;
    case VariableRole::scale:
      return FingerprintKind::scale_gradients;
    case VariableRole::shift:
      return FingerprintKind::shift_gradients;
    case VariableRole::mean:
      return FingerprintKind::means;
    case VariableRole::variance:
      return FingerprintKind::variances;
    case VariableRole::quantum:
      break;
  }
  throw InternalError("fingerprint: a quantized network has no fingerprint");
}

/// True if an op preserves a constant that is added to all pixels of a channel.
bool keeps_what_is_added(const Node& node) {
  return node.op == &kConcat || node.op == &kAvgPool || node.op == &kMaxPool;
}

/// Values that only batch norm reads, possibly after pooling or a concat. Batch norm removes any
/// constant that is added to one of their channels.
std::set<ValueId> normalised_values(const Graph& network) {
  std::map<ValueId, std::vector<const Node*>> readers;
  for (const Node& node : network.nodes()) {
    for (const ValueId input : node.inputs) {
      readers[input].push_back(&node);
    }
  }
  std::set<ValueId> normalised;
  const auto nodes = network.nodes();
  for (std::size_t n = nodes.size(); n-- > 0;) {
    const ValueId output = nodes[n].outputs.at(0);
    const auto& read_by = readers[output];
    const bool all = std::all_of(read_by.begin(), read_by.end(), [&](const Node* reader) {
      return is_batch_norm(*reader) ||
             (keeps_what_is_added(*reader) && normalised.contains(reader->outputs.at(0)));
    });
    if (all && !read_by.empty()) {
      normalised.insert(output);
    }
  }
  return normalised;
}

/// Biases that batch norm cancels: their gradients are mere rounding.
std::set<ValueId> idle_biases(const Graph& network) {
  const std::set<ValueId> normalised = normalised_values(network);
  std::set<ValueId> idle;
  for (const Node& node : network.nodes()) {
    for (const ValueId input : node.inputs) {
      if (normalised.contains(node.outputs.at(0)) && !is_batch_norm(node) &&
          network.shape(input).rank() == 1) {
        idle.insert(input);
      }
    }
  }
  return idle;
}

}  // namespace

std::uint64_t fingerprint_seed() { return kSeed; }

std::vector<FingerprintProbe> fingerprint_probes(const Graph& network) {
  const std::set<ValueId> idle = idle_biases(network);
  std::vector<FingerprintProbe> probes;
  for (const Variable& variable : network.variables()) {
    if (!idle.contains(variable.value)) {
      probes.push_back({.variable = network.value(variable.value).name, .kind = kind_of(variable)});
    }
  }
  return probes;
}

InitialValues fingerprint_values(const Graph& network) {
  InitialValues values = initial_values(network, kSeed);
  const std::set<ValueId> of_branches = variables_of_branches(network);
  const auto variables = network.variables();
  const bool normalises =
      std::any_of(variables.begin(), variables.end(),
                  [](const Variable& variable) { return variable.role == VariableRole::shift; });
  for (const Variable& variable : variables) {
    const std::string& name = network.value(variable.value).name;
    if (normalises && network.shape(variable.value).rank() == 2) {
      for (float& value : values.at(name)) {
        value *= kHeadScale;
      }
    }
    if (variable.initial.kind != Initializer::Kind::constant) {
      continue;
    }
    RandomStream random(kSeed, hash_name(name));
    const bool branch = of_branches.contains(variable.value);
    float shift = 0;
    float factor = 1;
    if (variable.role == VariableRole::shift) {
      shift = branch ? kBranchShift : kShift;
    }
    if (variable.role == VariableRole::scale && branch) {
      factor = kBranchScale;
    }
    for (float& value : values.at(name)) {
      value = factor * (value + static_cast<float>(kSpread) * random.normal()) + shift;
    }
  }
  return values;
}

}  // namespace bench
