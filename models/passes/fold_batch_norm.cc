#include "models/passes/fold_batch_norm.h"

#include <map>
#include <optional>
#include <set>

#include "models/base/errors.h"
#include "models/ops/batch_norm.h"
#include "models/ops/bias_add.h"
#include "models/ops/conv2d.h"
#include "models/passes/graph_copy.h"
#include "models/passes/rewrite.h"

namespace bench {
namespace {

class Folder {
 public:
  explicit Folder(const Graph& graph) : graph_(graph), uses_(count_uses(graph)) {}

  /// The convolution's weight and the variables folded into it; nullopt if folding is not possible.
  [[nodiscard]] std::optional<FoldedBatchNorm> fold(const Node& norm) const {
    const auto& attributes = norm.attributes.as<BatchNormAttributes>();
    if (!attributes.epilogue.empty()) {
      return std::nullopt;
    }
    FoldedBatchNorm fold{.epsilon = attributes.epsilon};
    const Node* before = sole_producer(norm.inputs[0]);
    if (before != nullptr && before->op == &kBiasAdd) {
      fold.old_bias = variable_name(before->inputs[1]);
      before = fold.old_bias.empty() ? nullptr : sole_producer(before->inputs[0]);
    }
    if (before == nullptr || before->op != &kConv2d ||
        !before->attributes.as<Conv2dAttributes>().epilogue.empty()) {
      return std::nullopt;
    }
    const BatchNormInputs places = batch_norm_inference_inputs(attributes);
    const auto name = [&](int position) {
      return position < 0 ? std::string()
                          : variable_name(norm.inputs[static_cast<std::size_t>(position)]);
    };
    fold.weight = variable_name(before->inputs[1]);
    fold.gamma = name(places.gamma);
    fold.beta = name(places.beta);
    fold.mean = name(places.mean);
    fold.variance = name(places.variance);
    fold.bias = before->name + ".folded_bias";
    const bool all = !fold.weight.empty() && (places.gamma < 0 || !fold.gamma.empty()) &&
                     !fold.beta.empty() && !fold.mean.empty() && !fold.variance.empty();
    return all ? std::optional(fold) : std::nullopt;
  }

 private:
  /// The node whose first output this is, if the value has only one reader.
  [[nodiscard]] const Node* sole_producer(ValueId id) const {
    const Value& value = graph_.value(id);
    if (value.origin != Value::Origin::node || value.position != 0 || uses_[at(id)] != 1) {
      return nullptr;
    }
    return &graph_.nodes()[static_cast<std::size_t>(value.producer)];
  }
  /// Empty unless the value is a variable that is read once.
  [[nodiscard]] std::string variable_name(ValueId id) const {
    const bool own = graph_.find_variable(id) != nullptr && uses_[at(id)] == 1;
    return own ? graph_.value(id).name : std::string();
  }

  const Graph& graph_;
  std::vector<int> uses_;
};

/// The graph without the variables that nothing reads.
Graph without_unread_variables(const Graph& graph) {
  const std::vector<int> uses = count_uses(graph);
  GraphCopy copy(graph);
  copy.add_inputs();
  for (const Variable& variable : graph.variables()) {
    if (uses[at(variable.value)] > 0) {
      copy.add_variable(variable, graph.type(variable.value));
    }
  }
  for (const Node& node : graph.nodes()) {
    copy.append_node(node);
  }
  copy.add_outputs();
  return std::move(copy.graph());
}

}  // namespace

FoldedGraph fold_batch_norm(const Graph& graph) {
  check(graph.updates().empty() && graph.gradients().empty(),
        "fold_batch_norm: the graph must be an inference graph");
  const Folder folder(graph);
  FoldedGraph folded;
  std::set<std::string> replaced;  // biases that a fold takes in
  std::map<std::string, FoldedBatchNorm> by_norm;
  for (const Node& node : graph.nodes()) {
    if (node.op != &kBatchNormInference) {
      continue;
    }
    if (auto fold = folder.fold(node)) {
      replaced.insert(fold->old_bias);
      folded.folds.push_back(*fold);
      by_norm.emplace(node.name, *fold);
    }
  }
  const Graph rewritten = rewrite(graph, [&](Graph& result, const Node& node) {
    const auto found = node.op == &kBatchNormInference ? by_norm.find(node.name) : by_norm.end();
    if (found != by_norm.end()) {
      const TensorType& x = result.type(node.inputs[0]);
      const ValueId bias = result.add_variable(
          found->second.bias, {.dtype = x.dtype, .shape = {x.shape[1]}}, VariableRole::bias);
      return result.add_node(kBiasAdd, node.name, {}, {node.inputs[0], bias});
    }
    if (node.op == &kBiasAdd && result.find_variable(node.inputs[1]) != nullptr &&
        replaced.count(result.value(node.inputs[1]).name) != 0) {
      return std::vector<ValueId>{node.inputs[0]};
    }
    return append(result, node);
  });
  folded.graph = without_unread_variables(rewritten);
  return folded;
}

}  // namespace bench
