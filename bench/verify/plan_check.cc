#include "bench/verify/plan_check.h"

#include <algorithm>
#include <sstream>

#include "bench/verify/picks.h"
#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/batch_norm.h"
#include "models/ops/bias_add.h"
#include "models/ops/conv2d.h"
#include "models/ops/fully_connected.h"
#include "models/ops/loss.h"
#include "models/ops/moving_average.h"
#include "models/ops/multibox_loss.h"
#include "models/ops/rnn.h"

namespace bench {
namespace {

/// Returns true if the node's outputs without an image extent are sums over the images.
bool sums_over_images(const Node& node) {
  return node.op == &kConv2dBackwardWeights || node.op == &kFullyConnectedBackwardWeights ||
         node.op == &kBiasBackward || node.op == &kBatchNormBackward;
}

/// Returns true if the node adds up images, in a sum or a mean.
bool adds_images(const Node& node) {
  return sums_over_images(node) || node.op == &kSoftmaxCrossEntropy || node.op == &kMultiboxLoss;
}

/// The most that roundings in 16 bits, and what follows from them, may change a tensor of a copy,
/// as a share of its norm.
constexpr double kMostCopyDifference = 0.2;

// A limit for the difference between the mean of an image's copies and the first copy. It is a
// multiple of the difference between the last and the first.
constexpr double kCopyTimes = 4;

// Larger reorders are not checked.
constexpr std::int64_t kMostReordered = std::int64_t{1} << 23;

}  // namespace

PlanCheck::PlanCheck(Executor& executor, Backend& backend, const Graph& small, std::int64_t images,
                     std::int64_t batch)
    : plan_(executor.plan()),
      small_(small),
      threads_(backend.host_threads()),
      narrow_filter_gradients_(backend.narrow_filter_gradients()),
      memory_(plan_check_memory(small, threads_.count)),
      reader_(backend, executor.stream(), memory_.whole),
      copies_(static_cast<double>(batch) / static_cast<double>(images)),
      copies_differ_(batch > images && !backend.shares_host_memory() &&
                     std::ranges::any_of(plan_.buffers, [](const Buffer& buffer) {
                       return is_half(buffer.type.dtype);
                     })) {
  check(batch % images == 0, "plan check: the batch is not a multiple of the images");
  for (const Node& node : small.nodes()) {
    nodes_[fmt::format("{} {}", node.op->name, node.name)] = &node;
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
  const auto found = nodes_.find(fmt::format("{} {}", step.op, step.name));
  check(found != nodes_.end(),
        fmt::format("plan check: the smaller batch has no node {}", step.name));
  const Node& node = *found->second;
  // For another batch, a device may support another form of a node.
  check(
      step.inputs.size() == node.inputs.size() && step.outputs.size() == node.outputs.size(),
      fmt::format("plan check: {} has {} inputs and {} outputs, but {} and {} in the smaller batch",
                  step.name, step.inputs.size(), step.outputs.size(), node.inputs.size(),
                  node.outputs.size()));
  return &node;
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
      // The inputs of an opaque value's producer are needed wherever the value is.
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
        fmt::format("plan check: the smaller batch has another value in place of {}", source.name));
  return small_.shape(source.value);
}

void PlanCheck::before(const Executor::ObservedStep& step, Kernels kernels) {
  const Node* node = node_of(step.step);
  inputs_.clear();
  last_inputs_.clear();
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
    if (copies_differ_ && adds_images(*node)) {
      read_last_inputs(step, *node);
    }
    return;
  }
  inputs_.push_back(reader_.read({.buffer = plan_.buffers[step.step.inputs[0]],
                                  .view = step.inputs[0],
                                  .shape = shape_of_reorder(step.step)},
                                 arena_));
}

void PlanCheck::read_last_inputs(const Executor::ObservedStep& step, const Node& node) {
  // The bytes of the first images in each input; 0 for an input without images.
  std::vector<std::size_t> bytes;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    const Shape& whole = plan_.buffers[step.step.inputs[i]].type.shape;
    const Shape& small = small_.shape(node.inputs[i]);
    bytes.push_back(whole == small ? 0
                                   : step.inputs[i].bytes / static_cast<std::size_t>(whole[0]) *
                                         static_cast<std::size_t>(small[0]));
  }
  // The last copy where kernels may read.
  constexpr std::size_t kAlignment = 16;
  auto copy = static_cast<std::size_t>(copies_) - 1;
  while (std::ranges::any_of(bytes, [&](std::size_t size) { return copy * size % kAlignment; })) {
    --copy;
  }
  if (copy == 0) {
    return;
  }
  std::vector<TensorView> views(step.inputs.begin(), step.inputs.end());
  for (std::size_t i = 0; i < views.size(); ++i) {
    views[i].data = static_cast<std::byte*>(views[i].data) + copy * bytes[i];
  }
  last_inputs_ = read({.buffers = step.step.inputs,
                       .views = views,
                       .ids = node.inputs,
                       .picks = picks_of(small_, node).inputs},
                      arena_);
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
  const bool derivatives = node.op == &kMultiboxLoss && small.rank() > 0;
  if (node.op == &kSoftmaxCrossEntropyBackward || derivatives) {
    return 1 / copies_;  // The loss is a mean over the images.
  }
  return sums_over_images(node) && small == whole ? copies_ : 1;
}

std::vector<CheckedKernel> PlanCheck::check_copies(const NodeInputs& first) {
  std::vector<CheckedKernel> checked;
  for (std::size_t i = 0; i < last_inputs_.size(); ++i) {
    if (!is_floating(last_inputs_[i].type.dtype)) {
      continue;
    }
    const Distances found =
        distances(last_inputs_[i], widened(first.inputs[i], threads_, arena_), 1);
    if (found.difference.norm > kMostCopyDifference * found.result.norm) {
      checked.push_back({.name = {},
                         .deviation = found.difference.norm / found.result.norm,
                         .tolerance = kMostCopyDifference});
    }
  }
  return checked;
}

void PlanCheck::check_node(const Executor::ObservedStep& step, const Node& node) {
  NodeInputs read_by{.node = node, .inputs = std::move(inputs_)};
  read_by.node.attributes = picked_attributes(small_, node);
  if (node.op == &kMovingAverage) {
    read_by.node.attributes = step.step.attributes;  // They include the batch.
  }
  std::vector<const NodeInputs*> producers;
  for (const ValueId input : node.inputs) {
    if (small_.type(input).opaque) {
      producers.push_back(&producers_.at(input));
    }
  }
  std::vector<CheckedKernel> outputs = check_copies(read_by);
  ReferenceNode reference(small_, read_by, producers, threads_, arena_);
  const auto expected = reference.compute();
  const Picks picks = picks_of(small_, node);
  const std::vector<HostTensor> actual = read({.buffers = step.step.outputs,
                                               .views = step.outputs,
                                               .ids = node.outputs,
                                               .picks = picks.outputs},
                                              arena_);
  std::vector<std::span<const double>> moved;
  std::vector<std::span<const double>> of_last;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].empty()) {
      continue;
    }
    const TensorType& type = plan_.buffers[step.step.outputs[i]].type;
    // A recurrent layer rounds states and gates between the steps.
    const bool narrow = (narrow_filter_gradients_ && node.op == &kConv2dBackwardWeights) ||
                        node.op == &kRnn || node.op == &kRnnBackward;
    const DType precision = narrow ? plan_.buffers[step.step.inputs[0]].type.dtype : type.dtype;
    const double factor = factor_of(node, small_.shape(node.outputs[i]), type.shape);
    const Distances found = distances(actual[i], expected[i], factor);
    CheckedKernel judged = judge(found, {}, precision, expected[i].size());
    if (!(judged.deviation <= judged.tolerance)) {
      if (moved.empty()) {
        moved = reference.compute_moved(
            moves_of(small_, node, type.dtype, copies_differ_ && adds_images(node)));
      }
      Distance carried = distances(moved[i], expected[i]).difference;
      if (!last_inputs_.empty()) {
        const NodeInputs last{.node = read_by.node, .inputs = std::move(last_inputs_)};
        of_last = ReferenceNode(small_, last, producers, threads_, arena_).compute();
        last_inputs_.clear();
      }
      if (!of_last.empty()) {
        const Distance copies = distances(of_last[i], expected[i]).difference;
        carried.norm += kCopyTimes / kMovedTimes * copies.norm;
        carried.largest += kCopyTimes / kMovedTimes * copies.largest;
      }
      carried.norm *= factor;
      carried.largest *= factor;
      judged = judge(found, carried, precision, expected[i].size());
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
    kernels_.back().name = fmt::format("{} {}", step.step.op, step.step.name);
  }
}

}  // namespace bench
