#include "kernels/check/plan_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
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

/// A few roundings of the type in which sums are made, and how often their effect is allowed: a sum
/// of many terms rounds after each, and kernels for narrow vectors add thousands in a row.
double moved_share(DType dtype) {
  return 4 * (accumulation_type(dtype) == DType::f64 ? std::numeric_limits<double>::epsilon()
                                                     : std::numeric_limits<float>::epsilon());
}
constexpr double kMovedTimes = 64;

// The largest of a million roundings is several times their root mean square.
constexpr double kLargestTimes = 8;

struct Distance {
  double norm = 0;
  double largest = 0;
};

/// Of what was measured from `factor` times what was expected, and of the latter from 0.
struct Distances {
  Distance difference;
  Distance result;
};

/// A sum and a maximum over several elements at once.
struct Lanes {
  static constexpr std::size_t kCount = 8;
  std::array<double, kCount> squares{};
  std::array<double, kCount> largest{};

  void add(std::size_t lane, double value) {
    const double size = std::abs(value);
    squares[lane] += size * size;
    largest[lane] = largest[lane] < size ? size : largest[lane];
  }
  /// What is not a number is infinitely far.
  [[nodiscard]] Distance distance() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double sum = std::accumulate(squares.begin(), squares.end(), 0.0);
    return std::isnan(sum)
               ? Distance{kInfinity, kInfinity}
               : Distance{std::sqrt(sum), *std::max_element(largest.begin(), largest.end())};
  }
};

template <class T>
Distances distances(std::span<const T> measured, std::span<const double> expected, double factor) {
  check(measured.size() == expected.size(), "plan check: a result has another size than it should");
  Lanes difference;
  Lanes result;
  const auto add = [&](std::size_t lane, std::size_t i) {
    const double right = factor * expected[i];
    difference.add(lane, static_cast<double>(measured[i]) - right);
    result.add(lane, right);
  };
  const std::size_t whole = measured.size() / Lanes::kCount * Lanes::kCount;
  for (std::size_t i = 0; i < whole; i += Lanes::kCount) {
    for (std::size_t lane = 0; lane < Lanes::kCount; ++lane) {
      add(lane, i + lane);
    }
  }
  for (std::size_t i = whole; i < measured.size(); ++i) {
    add(i - whole, i);
  }
  return {.difference = difference.distance(), .result = result.distance()};
}

template <class T>
std::span<const T> elements_of(const HostTensor& tensor) {
  // An arena's memory is aligned for every type.
  return {static_cast<const T*>(static_cast<const void*>(tensor.bytes.data())),
          tensor.bytes.size() / sizeof(T)};
}

/// `measured` is f32 or f64.
Distances distances(const HostTensor& measured, std::span<const double> expected, double factor) {
  return measured.type.dtype == DType::f64
             ? distances(elements_of<double>(measured), expected, factor)
             : distances(elements_of<float>(measured), expected, factor);
}

double ratio(double a, double b) { return a == 0 ? 0 : a / b; }

/// Half the distance of the smallest numbers of a type: what rounding may do to each element
/// however small it is. Of the other types it is too small to matter.
double smallest_rounding(DType dtype) { return dtype == DType::f16 ? 0x1.0p-25 : 0; }

/// What of the result is compared: the sharper of norm and largest element. `moved` is how far
/// rounding carries.
CheckedKernel judge(const Distances& found, const Distance& moved, DType dtype,
                    std::size_t elements) {
  const auto& [difference, result] = found;
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

}  // namespace

PlanCheck::PlanCheck(const Executor& executor, Backend& backend, Stream& stream, const Graph& small,
                     std::int64_t images, std::int64_t batch)
    : plan_(executor.plan()),
      small_(small),
      threads_(backend.host_threads()),
      memory_(plan_check_memory(small, threads_.count)),
      reader_(backend, stream, memory_.variable),
      copies_(static_cast<double>(batch) / static_cast<double>(images)) {
  check(batch % images == 0, "a batch that is checked is made of whole copies");
  for (const Node& node : small.nodes()) {
    nodes_[cat(node.op->name, " ", node.name)] = &node;
  }
}

Executor::Observer PlanCheck::observer(Kernels kernels) {
  Executor::Observer observer{
      .before = [this, kernels](const Executor::ObservedStep& step) { before(step, kernels); },
      .after = [this](const Executor::ObservedStep& step) { after(step); }};
  if (kernels == Kernels::that_draw) {
    const auto last = std::find_if(plan_.steps.rbegin(), plan_.steps.rend(),
                                   [this](const Step& step) { return draws(step); });
    observer.steps = static_cast<std::size_t>(plan_.steps.rend() - last);
  }
  return observer;
}

const Node* PlanCheck::node_of(const Step& step) const {
  if (step.op == "copy" || step.op == "cast" || step.op == "reorder") {
    return nullptr;
  }
  const auto found = nodes_.find(cat(step.op, " ", step.name));
  check(found != nodes_.end(), cat("plan check: the smaller batch has no node ", step.name));
  return found->second;
}

std::vector<HostTensor> PlanCheck::read(const Values& values, Arena& arena) {
  std::vector<HostTensor> tensors;
  for (std::size_t i = 0; i < values.buffers.size(); ++i) {
    const Buffer& buffer = plan_.buffers[values.buffers[i]];
    tensors.push_back(buffer.type.opaque ? HostTensor{}
                                         : reader_.read({.buffer = buffer,
                                                         .view = values.views[i],
                                                         .shape = small_.shape(values.ids[i]),
                                                         .pick = values.picks[i]},
                                                        arena));
  }
  return tensors;
}

bool PlanCheck::draws(const Step& step) const {
  return std::any_of(step.inputs.begin(), step.inputs.end(),
                     [&](std::size_t index) { return plan_.buffers[index].name == "step"; });
}

bool PlanCheck::wanted(const Step& step, Kernels kernels) {
  constexpr int kOfAKind = 2;
  const bool large = node_of(step) == nullptr && shape_of_reorder(step).elements() > kMostReordered;
  if (draws(step) != (kernels == Kernels::that_draw) || large || step.op == kL2Loss.name) {
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
  arena_.reset();
  looking_ = wanted(step.step, kernels);
  if (!looking_) {
    return;
  }
  if (node != nullptr) {
    inputs_ = read({.buffers = step.step.inputs,
                    .views = step.inputs,
                    .ids = node->inputs,
                    .picks = picks_of(small_, *node).inputs},
                   makes_opaque(small_, *node) ? kept_ : arena_);
    return;
  }
  inputs_.push_back(reader_.read({.buffer = plan_.buffers[step.step.inputs[0]],
                                  .view = step.inputs[0],
                                  .shape = shape_of_reorder(step.step)},
                                 arena_));
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
  if (!is_floating(inputs_[0].type.dtype)) {
    return;
  }
  const HostTensor result = reader_.read(
      {.buffer = target, .view = step.outputs[0], .shape = shape_of_reorder(step.step)}, arena_);
  const std::span<const double> expected = widened(inputs_[0], threads_, arena_);
  const CheckedKernel judged =
      judge(distances(result, expected, 1), {}, target.type.dtype, expected.size());
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
  ReferenceNode reference(small_, read_by, producers, threads_, arena_);
  const auto expected = reference.compute();
  const Picks picks = picks_of(small_, node);
  const std::vector<HostTensor> actual = read({.buffers = step.step.outputs,
                                               .views = step.outputs,
                                               .ids = node.outputs,
                                               .picks = picks.outputs},
                                              arena_);
  std::vector<std::span<const double>> moved;
  std::vector<CheckedKernel> outputs;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].empty()) {
      continue;
    }
    const TensorType& type = plan_.buffers[step.step.outputs[i]].type;
    const double factor = factor_of(node, small_.shape(node.outputs[i]), type.shape);
    const Distances found = distances(actual[i], expected[i], factor);
    CheckedKernel judged = judge(found, {}, type.dtype, expected[i].size());
    if (!(judged.deviation <= judged.tolerance)) {
      if (moved.empty()) {
        moved = reference.compute_moved(moved_share(type.dtype));
      }
      Distance carried = distances(moved[i], expected[i], 1).difference;
      carried.norm *= factor;
      carried.largest *= factor;
      judged = judge(found, carried, type.dtype, expected[i].size());
    }
    outputs.push_back(judged);
  }
  add(step, outputs);
  for (const ValueId output : node.outputs) {
    if (small_.type(output).opaque) {
      producers_[output] = read_by;
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
