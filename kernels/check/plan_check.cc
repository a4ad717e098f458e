#include "kernels/check/plan_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "kernels/check/picks.h"
#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/batch_norm.h"
#include "models/ops/bias_add.h"
#include "models/ops/conv2d.h"
#include "models/ops/fully_connected.h"
#include "models/ops/loss.h"
#include "models/ops/moving_average.h"

namespace bench {
namespace {

/// The largest share of a result's norm by which rounding may move it where nothing cancels: two or
/// three roundings to its type, and in f32 and f64 the sums of millions of terms.
double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return 6e-3;
    case DType::f16:
      return 2e-3;
    case DType::f64:
      return 1e-10;
    default:
      return 1e-3;
  }
}

/// A few roundings of the type in which sums are made, and how often their effect is allowed.
double moved_share(DType dtype) {
  return 4 * (accumulation_type(dtype) == DType::f64 ? std::numeric_limits<double>::epsilon()
                                                     : std::numeric_limits<float>::epsilon());
}
constexpr double kMovedTimes = 16;

// The largest of a million roundings is several times their root mean square.
constexpr double kLargestTimes = 8;

struct Distance {
  double norm = 0;
  double largest = 0;
};

/// Of `a` from `b`, or from 0 without it. What is not a number is infinitely far.
Distance distance(std::span<const double> a, std::span<const double> b = {}) {
  check(b.empty() || a.size() == b.size(), "plan check: a result has another size than it should");
  Distance result;
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(a[i] - (b.empty() ? 0 : b[i]));
    squares += d * d;
    result.largest = std::max(result.largest, d);
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return std::isnan(squares) ? Distance{kInfinity, kInfinity}
                             : Distance{std::sqrt(squares), result.largest};
}

double ratio(double a, double b) { return a == 0 ? 0 : a / b; }

/// Half the distance of the smallest numbers of a type: what rounding may do to each element
/// however small it is. Of the other types it is too small to matter.
double smallest_rounding(DType dtype) { return dtype == DType::f16 ? 0x1.0p-25 : 0; }

/// What of the result is compared: the sharper of norm and largest element. `moved` is how far
/// rounding carries.
CheckedKernel judge(const Distance& difference, const Distance& result, const Distance& moved,
                    DType dtype, std::size_t elements) {
  const double tolerance = tolerance_of(dtype);
  if (!std::isfinite(difference.norm) || !std::isfinite(result.norm)) {
    return {
        .name = {}, .deviation = std::numeric_limits<double>::infinity(), .tolerance = tolerance};
  }
  const double step = smallest_rounding(dtype);
  const auto carried = [&](double share, double whole) {
    return std::isfinite(share) ? ratio(kMovedTimes * share, whole) : 0;
  };
  const CheckedKernel by_norm{
      .name = {},
      .deviation = ratio(difference.norm, result.norm),
      .tolerance = tolerance + carried(moved.norm, result.norm) +
                   ratio(step * std::sqrt(static_cast<double>(elements)), result.norm)};
  const CheckedKernel by_largest{
      .name = {},
      .deviation = ratio(difference.largest, result.largest),
      .tolerance = kLargestTimes * (tolerance + carried(moved.largest, result.largest) +
                                    ratio(step, result.largest))};
  return by_norm.deviation * by_largest.tolerance >= by_largest.deviation * by_norm.tolerance
             ? by_norm
             : by_largest;
}

/// Whether a node's outputs without an extent for images are sums over them.
bool sums_over_images(const Node& node) {
  return node.op == &kConv2dBackwardWeights || node.op == &kFullyConnectedBackwardWeights ||
         node.op == &kBiasBackward || node.op == &kBatchNormBackward;
}

// A reorder of more is left out.
constexpr std::int64_t kMostReordered = std::int64_t{1} << 23;

void scale(HostTensor& tensor, double factor) {
  for (double& value : doubles_of(tensor)) {
    value *= factor;
  }
}

}  // namespace

PlanCheck::PlanCheck(const Executor& executor, Backend& backend, Stream& stream, const Graph& small,
                     std::int64_t images, std::int64_t batch)
    : plan_(executor.plan()),
      small_(small),
      reader_(backend, stream),
      copies_(static_cast<double>(batch) / static_cast<double>(images)) {
  check(batch % images == 0, "a batch that is checked is made of whole copies");
  for (const Node& node : small.nodes()) {
    nodes_[cat(node.op->name, " ", node.name)] = &node;
  }
}

Executor::Observer PlanCheck::observer(Kernels kernels) {
  return {.before = [this, kernels](const Executor::ObservedStep& step) { before(step, kernels); },
          .after = [this](const Executor::ObservedStep& step) { after(step); }};
}

const Node* PlanCheck::node_of(const Step& step) const {
  if (step.op == "copy" || step.op == "cast" || step.op == "reorder") {
    return nullptr;
  }
  const auto found = nodes_.find(cat(step.op, " ", step.name));
  check(found != nodes_.end(), cat("plan check: the smaller batch has no node ", step.name));
  return found->second;
}

std::vector<HostTensor> PlanCheck::read(const std::vector<std::size_t>& buffers,
                                        std::span<const TensorView> views,
                                        const std::vector<ValueId>& values,
                                        const std::vector<Pick>& picks) {
  std::vector<HostTensor> tensors;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& buffer = plan_.buffers[buffers[i]];
    tensors.push_back(buffer.type.opaque
                          ? HostTensor{}
                          : reader_.read(buffer, views[i], small_.shape(values[i]), picks[i]));
  }
  return tensors;
}

bool PlanCheck::wanted(const Step& step, Kernels kernels) {
  constexpr int kOfAKind = 2;
  const bool draws = std::any_of(step.inputs.begin(), step.inputs.end(), [&](std::size_t index) {
    return plan_.buffers[index].name == "step";
  });
  const bool large = node_of(step) == nullptr && shape_of_reorder(step).elements() > kMostReordered;
  if (draws != (kernels == Kernels::that_draw) || large || step.op == kL2Loss.name) {
    return false;
  }
  std::ostringstream kind;
  kind << step.op << " " << step.implementation << " " << step.attributes;
  for (const auto* buffers : {&step.inputs, &step.outputs}) {
    for (const std::size_t index : *buffers) {
      const Buffer& buffer = plan_.buffers[index];
      // What an opaque value's maker read is needed where the value is.
      if (buffer.type.opaque) {
        return true;
      }
      kind << " " << buffer.type << " " << buffer.layout;
    }
  }
  return ++kinds_[kind.str()] <= kOfAKind;
}

Shape PlanCheck::shape_of_reorder(const Step& step) const {
  const Buffer& source = plan_.buffers[step.inputs[0]];
  check(small_.value(source.value).name == source.name,
        cat("plan check: the smaller batch has another value than ", source.name));
  return small_.shape(source.value);
}

void PlanCheck::before(const Executor::ObservedStep& step, Kernels kernels) {
  const Node* node = node_of(step.step);
  inputs_.clear();
  looking_ = wanted(step.step, kernels);
  if (!looking_) {
    return;
  }
  if (node != nullptr) {
    inputs_ = read(step.step.inputs, step.inputs, node->inputs, picks_of(small_, *node).inputs);
    return;
  }
  const Buffer& source = plan_.buffers[step.step.inputs[0]];
  inputs_.push_back(reader_.read(source, step.inputs[0], shape_of_reorder(step.step)));
}

void PlanCheck::after(const Executor::ObservedStep& step) {
  if (!looking_) {
    return;
  }
  if (const Node* node = node_of(step.step)) {
    check_node(step, *node);
  } else {
    check_reorder(step);
  }
}

void PlanCheck::check_reorder(const Executor::ObservedStep& step) {
  const Buffer& target = plan_.buffers[step.step.outputs[0]];
  if (inputs_[0].type.dtype != DType::f64) {
    return;
  }
  const HostTensor result = reader_.read(target, step.outputs[0], shape_of_reorder(step.step));
  const CheckedKernel judged =
      judge(distance(doubles_of(result), doubles_of(inputs_[0])), distance(doubles_of(inputs_[0])),
            {}, target.type.dtype, doubles_of(result).size());
  add(step, std::span(&judged, 1));
}

double PlanCheck::factor_of(const Node& node, const Shape& small, const Shape& whole) const {
  if (node.op == &kSoftmaxCrossEntropyBackward) {
    return 1 / copies_;  // The loss is a mean over the images.
  }
  return sums_over_images(node) && small == whole ? copies_ : 1;
}

void PlanCheck::check_node(const Executor::ObservedStep& step, const Node& node) {
  NodeInputs read_by{.node = node, .inputs = std::move(inputs_)};
  read_by.node.attributes = picked_attributes(small_, node);
  if (node.op == &kMovingAverage) {
    read_by.node.attributes = step.step.attributes;  // They know the batch.
  }
  std::vector<const NodeInputs*> producers;
  for (const ValueId input : node.inputs) {
    if (small_.type(input).opaque) {
      producers.push_back(&producers_.at(input));
    }
  }
  const ReferenceNode reference(*reference_, small_, read_by, producers);
  std::vector<HostTensor> expected = reference.compute();
  const std::vector<HostTensor> actual =
      read(step.step.outputs, step.outputs, node.outputs, picks_of(small_, node).outputs);
  std::vector<HostTensor> moved;
  std::vector<CheckedKernel> outputs;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].bytes.empty()) {
      continue;
    }
    const TensorType& type = plan_.buffers[step.step.outputs[i]].type;
    const double factor = factor_of(node, small_.shape(node.outputs[i]), type.shape);
    scale(expected[i], factor);
    const Distance difference = distance(doubles_of(actual[i]), doubles_of(expected[i]));
    const Distance result = distance(doubles_of(expected[i]));
    CheckedKernel judged =
        judge(difference, result, {}, type.dtype, doubles_of(expected[i]).size());
    if (!(judged.deviation <= judged.tolerance)) {
      if (moved.empty()) {
        moved = reference.compute(moved_share(type.dtype));
      }
      scale(moved[i], factor);
      judged = judge(difference, result, distance(doubles_of(moved[i]), doubles_of(expected[i])),
                     type.dtype, doubles_of(expected[i]).size());
    }
    outputs.push_back(judged);
  }
  add(step, outputs);
  for (const ValueId output : node.outputs) {
    if (small_.type(output).opaque) {
      producers_[output] = std::move(read_by);
      return;
    }
  }
}

void PlanCheck::add(const Executor::ObservedStep& step, std::span<const CheckedKernel> outputs) {
  const auto share = [](const CheckedKernel& kernel) {
    return kernel.deviation / kernel.tolerance;
  };
  const auto worst = std::max_element(
      outputs.begin(), outputs.end(),
      [&](const CheckedKernel& a, const CheckedKernel& b) { return share(a) < share(b); });
  if (worst != outputs.end()) {
    kernels_.push_back(*worst);
    kernels_.back().name = cat(step.step.op, " ", step.step.name);
  }
}

}  // namespace bench
