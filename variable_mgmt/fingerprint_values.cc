#include "variable_mgmt/fingerprint_values.h"

#include <algorithm>
#include <map>
#include <set>

#include "models/ops/add.h"
#include "models/ops/batch_norm.h"
#include "models/ops/concat.h"
#include "models/ops/moving_average.h"
#include "models/ops/pool.h"

namespace bench {
namespace {

constexpr std::uint64_t kSeed = 0x62656E636C;
constexpr double kSpread = 0.1;
// Moves batch norm's output so that a ReLU behind it cuts one value of 700. Where it cuts half of
// them, many lie within rounding of 0, and which side they fall on changes the gradients of a
// hundred layers by one per cent.
constexpr float kShift = 3;
// The same for a batch norm that is added to what is there already, and the factor of its gamma: a
// hundred such sums stay as far from 0, and do not grow until 16 bits could not tell images apart.
constexpr float kBranchShift = 0.1F;
constexpr float kBranchScale = 0.2F;
// Scales the fully connected layers of networks with batch norm, whose features are that much
// larger by then: else the softmax would be all but certain, and a right guess would have no
// gradient.
constexpr float kHeadScale = 1.0F / 64;

/// What batch norm reads besides x, by value, and those among it that belong to a branch.
struct BatchNormVariables {
  std::map<ValueId, FingerprintKind> kinds;
  std::set<ValueId> of_branches;
};

bool is_batch_norm(const Node& node) {
  return node.op == &kBatchNorm || node.op == &kBatchNormInference;
}

/// The outputs of batch norms that are added to something else: of a sum of two, the first.
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

BatchNormVariables batch_norm_variables(const Graph& network) {
  BatchNormVariables found;
  const std::set<ValueId> added = branches(network);
  for (const Node& node : network.nodes()) {
    if (!is_batch_norm(node)) {
      continue;
    }
    const bool training = node.op == &kBatchNorm;
    const auto attributes = node.attributes.as<BatchNormAttributes>();
    const BatchNormInputs inputs =
        training ? batch_norm_inputs(attributes) : batch_norm_inference_inputs(attributes);
    const auto note = [&](int position, FingerprintKind kind) {
      if (position >= 0) {
        const ValueId input = node.inputs.at(static_cast<std::size_t>(position));
        found.kinds[input] = kind;
        if (added.contains(node.outputs.at(0))) {
          found.of_branches.insert(input);
        }
      }
    };
    note(inputs.gamma, FingerprintKind::scale_gradients);
    note(inputs.beta, FingerprintKind::shift_gradients);
    note(inputs.mean, FingerprintKind::means);
    note(inputs.variance, FingerprintKind::variances);
  }
  for (const Graph::Pair& update : network.updates()) {
    const Value& average = network.value(update.value);
    const Node& node = network.nodes()[static_cast<std::size_t>(average.producer)];
    if (node.op == &kMovingAverage) {
      const auto batch = static_cast<std::size_t>(2 * average.position + 1);
      found.kinds[update.variable] = network.value(node.inputs.at(batch)).position == 1
                                         ? FingerprintKind::means
                                         : FingerprintKind::variances;
    }
  }
  return found;
}

/// Whether an op passes on what was added to each pixel of a channel.
bool keeps_what_is_added(const Node& node) {
  return node.op == &kConcat || node.op == &kAvgPool || node.op == &kMaxPool;
}

/// Values that batch norm alone reads, perhaps joined with others or pooled before: it takes away
/// what is added to a channel of them.
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

/// Biases that batch norm takes away again: of their gradients nothing but rounding is left.
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
  const BatchNormVariables norms = batch_norm_variables(network);
  const std::set<ValueId> idle = idle_biases(network);
  std::vector<FingerprintProbe> probes;
  for (const Variable& variable : network.variables()) {
    if (idle.contains(variable.value)) {
      continue;
    }
    const auto known = norms.kinds.find(variable.value);
    FingerprintKind kind = FingerprintKind::bias_gradients;
    if (known != norms.kinds.end()) {
      kind = known->second;
    } else if (network.shape(variable.value).rank() >= 2) {
      kind = FingerprintKind::weight_gradients;
    }
    probes.push_back({.variable = network.value(variable.value).name, .kind = kind});
  }
  return probes;
}

InitialValues fingerprint_values(const Graph& network) {
  InitialValues values = initial_values(network, kSeed);
  const BatchNormVariables norms = batch_norm_variables(network);
  for (const Variable& variable : network.variables()) {
    const std::string& name = network.value(variable.value).name;
    if (!norms.kinds.empty() && network.shape(variable.value).rank() == 2) {
      for (float& value : values.at(name)) {
        value *= kHeadScale;
      }
    }
    if (variable.initial.kind != Initializer::Kind::constant) {
      continue;
    }
    RandomStream random(kSeed, hash_name(name));
    const auto norm = norms.kinds.find(variable.value);
    const bool branch = norms.of_branches.contains(variable.value);
    float shift = 0;
    float factor = 1;
    if (norm != norms.kinds.end() && norm->second == FingerprintKind::shift_gradients) {
      shift = branch ? kBranchShift : kShift;
    }
    if (norm != norms.kinds.end() && norm->second == FingerprintKind::scale_gradients && branch) {
      factor = kBranchScale;
    }
    for (float& value : values.at(name)) {
      value = factor * (value + static_cast<float>(kSpread) * random.normal()) + shift;
    }
  }
  return values;
}

}  // namespace bench
