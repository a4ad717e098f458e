#include "models/passes/quantize_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/add.h"
#include "models/ops/concat_batch_norm.h"
#include "models/ops/conv2d.h"
#include "models/ops/fully_connected.h"
#include "models/ops/quantized.h"
#include "models/ops/spatial_mean.h"

namespace bench {
namespace {

/// Returns true if the result is non-negative whenever the inputs are.
bool keeps_sign(const OpDef& op) { return op.keeps_sign || op.quanta == Quanta::passed_on; }

bool passes_quanta_on(const Node& node) { return node.op->quanta == Quanta::passed_on; }

/// Returns true for a batch norm, which reads real numbers and can write quanta.
bool can_write_quanta(const Node& node) {
  return node.op == &kConcatBatchNorm ||
         (node.op == &kBatchNormInference &&
          !node.attributes.as<BatchNormAttributes>().epilogue.residual);
}

/// The activation that a node ends with.
ActivationKind activation_of(const Node& node) {
  if (node.op->epilogue != nullptr) {
    return node.op->epilogue->get(node.attributes).activation;
  }
  return node.op == &kActivation ? node.attributes.as<ActivationAttributes>().kind
                                 : ActivationKind::none;
}

bool is_non_negative(ActivationKind kind) {
  switch (kind) {
    case ActivationKind::relu:
    case ActivationKind::relu6:
    case ActivationKind::sigmoid:
    case ActivationKind::hard_sigmoid:
      return true;
    case ActivationKind::none:
    case ActivationKind::tanh:
    case ActivationKind::silu:
    case ActivationKind::hard_swish:
      break;
  }
  return false;
}

bool is_straight(ActivationKind kind) {
  return kind == ActivationKind::none || kind == ActivationKind::relu ||
         kind == ActivationKind::relu6;
}

}  // namespace

QuantizePlan::QuantizePlan(const Graph& graph, const Ranges& ranges,
                           const std::map<std::size_t, std::string>& refused)
    : graph_(graph),
      ranges_(ranges),
      uses_(count_uses(graph)),
      non_negative_(graph.values().size(), false),
      candidate_(graph.nodes().size(), false),
      quantized_(graph.nodes().size(), false),
      read_(graph.values().size(), 0),
      same_scale_(graph.values().size()) {
  find_non_negative();
  find_candidates(refused);
  choose();
  share_scales();
}

void QuantizePlan::find_non_negative() {
  for (const ValueId id : graph_.inputs()) {
    const auto range = ranges_.find(graph_.value(id).name);
    non_negative_[at(id)] = range != ranges_.end() && range->second.low >= 0;
  }
  for (const Node& node : graph_.nodes()) {
    // Only the tensors count: dropout's last input is the step number.
    const bool from_inputs = keeps_sign(*node.op) &&
                             std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
                               return non_negative_[at(id)] || graph_.type(id).dtype != DType::f32;
                             });
    non_negative_[at(node.outputs[0])] = from_inputs || is_non_negative(activation_of(node));
  }
}

/// Returns true if no other layer uses the weight and quanta allow the activation.
bool QuantizePlan::may_carry(const Node& node) const {
  const ValueId weight = node.inputs[1];
  const bool own = graph_.find_variable(weight) != nullptr && uses_[at(weight)] == 1;
  if (!own || !is_straight(activation_of(node))) {
    return false;
  }
  const Shape& x = graph_.shape(node.inputs[0]);
  return node.op == &kFullyConnected || x[2] * x[3] > 1;
}

void QuantizePlan::find_candidates(const std::map<std::size_t, std::string>& refused) {
  std::vector<bool> available(graph_.values().size(), false);
  for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
    const Node& node = graph_.nodes()[n];
    if (refused.count(n) != 0 || graph_.type(node.outputs[0]).dtype != DType::f32) {
      continue;
    }
    if (node.op == &kConv2d || node.op == &kFullyConnected) {
      candidate_[n] = may_carry(node);
    } else if (can_write_quanta(node)) {
      candidate_[n] = is_straight(activation_of(node));
    } else if (node.op == &kAdd || node.op == &kSpatialMean || passes_quanta_on(node)) {
      // Quantising only for their sake would not pay off.
      candidate_[n] = std::any_of(node.inputs.begin(), node.inputs.end(),
                                  [&](ValueId id) { return available[at(id)]; });
    }
    // Rounding a batch norm's result only for a pooling or the like would not pay off.
    available[at(node.outputs[0])] =
        candidate_[n] && node.op != &kSpatialMean && !can_write_quanta(node);
  }
}

/// Returns true if the readers of the node's result, which are chosen, want it to be quantised.
bool QuantizePlan::is_wanted(const Node& node) const {
  const std::size_t y = at(node.outputs[0]);
  if (can_write_quanta(node)) {
    return read_[y] > 0 && read_[y] == uses_[y];
  }
  return !passes_quanta_on(node) || read_[y] > 0;
}

void QuantizePlan::choose() {
  for (std::size_t n = graph_.nodes().size(); n-- > 0;) {
    const Node& node = graph_.nodes()[n];
    const std::size_t y = at(node.outputs[0]);
    quantized_[n] = candidate_[n] && is_wanted(node);
    if (!quantized_[n] || can_write_quanta(node)) {
      continue;
    }
    if (node.op != &kConv2d && node.op != &kFullyConnected) {
      for (const ValueId id : node.inputs) {
        ++read_[at(id)];
      }
      continue;
    }
    ++read_[at(node.inputs[0])];
    weights_.insert(node.inputs[1]);
    // If the result is a real number, the residual is one too.
    if (node.op == &kConv2d && node.attributes.as<Conv2dAttributes>().epilogue.residual &&
        read_[y] > 0) {
      ++read_[at(node.inputs.back())];
    }
  }
}

void QuantizePlan::share_scales() {
  std::iota(same_scale_.begin(), same_scale_.end(), 0);
  for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
    const Node& node = graph_.nodes()[n];
    if (quantized_[n] && passes_quanta_on(node)) {
      for (const ValueId id : node.inputs) {
        same_scale_[root(at(id))] = root(at(node.outputs[0]));
      }
    }
  }
  for (std::size_t v = 0; v < read_.size(); ++v) {
    if (read_[v] == 0) {
      continue;
    }
    const auto range = ranges_.find(graph_.values()[v].name);
    check(range != ranges_.end(),
          fmt::format("quantize: {} has no range", graph_.values()[v].name));
    Shared& shared = shared_[root(v)];
    shared.range.low = std::min(shared.range.low, range->second.low);
    shared.range.high = std::max(shared.range.high, range->second.high);
    shared.non_negative = shared.non_negative && non_negative_[v];
  }
}

std::size_t QuantizePlan::root(std::size_t value) const {
  while (same_scale_[value] != value) {
    value = same_scale_[value];
  }
  return value;
}

DType QuantizePlan::dtype(ValueId id) const {
  return shared_.at(root(at(id))).non_negative ? DType::u8 : DType::s8;
}

double QuantizePlan::scale(ValueId id) const {
  const Shared& shared = shared_.at(root(at(id)));
  const double largest = std::max(std::abs(shared.range.low), shared.range.high);
  // Values that were always 0 may have any scale.
  return largest > 0 ? largest / highest_of(dtype(id)) : 1;
}

}  // namespace bench
