#include "bench/kernels/rnn_timer.h"

#include <algorithm>
#include <cmath>

#include "kernels/cases/kernel_case.h"
#include "models/base/errors.h"
#include "models/base/philox.h"
#include "models/ir/op.h"
#include "models/ops/loss.h"
#include "models/passes/backward.h"
#include "models/passes/fuse.h"
#include "models/passes/mixed_precision.h"

namespace bench {
namespace {

Graph graph_for(const RnnLayerSize& size, RnnForm form, bool training, DType dtype,
                const Backend& backend) {
  Graph graph = rnn_layer_graph(size, form, training);
  if (is_half(dtype)) {
    graph = mixed_precision(graph, dtype, training ? Weights16::cast : Weights16::stored);
  }
  graph =
      fuse(graph, [&](const Graph& of, const Node& node) { return backend.supports(of, node); });
  return training ? add_backward(graph, "loss") : graph;
}

/// Inputs from a standard normal distribution; weights small enough that no gate saturates.
void draw_variables(Executor& executor, const RnnLayerSize& size) {
  constexpr std::uint64_t kSeed = 1234;
  RandomStream random(kSeed);
  const double deviation = 1 / std::sqrt(3 * static_cast<double>(size.units));
  for (const Variable& variable : executor.graph().variables()) {
    const Value& value = executor.graph().value(variable.value);
    const bool input = value.name.starts_with("x");
    const std::vector<double> drawn =
        draw({.scale = input ? 1 : deviation}, value.type.shape.elements(), random);
    executor.write_variable(value.name, std::vector<float>(drawn.begin(), drawn.end()));
  }
}

}  // namespace

std::string_view name_of(RnnPhase phase) {
  switch (phase) {
    case RnnPhase::inference:
      return "inference";
    case RnnPhase::forward:
      return "forward";
    case RnnPhase::backward:
      return "backward";
  }
  return "?";
}

RnnTimer::RnnTimer(const RnnLayerSize& size, RnnForm form, bool training, DType dtype,
                   Backend& backend)
    : size_(size),
      executor_(std::make_unique<Executor>(graph_for(size, form, training, dtype, backend), backend,
                                           ExecutorOptions{})) {
  draw_variables(*executor_, size);
  if (training) {
    constexpr float kScale = 1;
    executor_->write_input("loss_scale", std::as_bytes(std::span(&kScale, 1)));
  }
}

std::span<const Step> RnnTimer::steps(RnnPhase phase) const {
  const std::span<const Step> steps = executor_->plan().steps;
  if (phase == RnnPhase::inference) {
    return steps;
  }
  const auto loss = std::ranges::find(steps, kL2Loss.name, &Step::op);
  check(loss != steps.end(), "a plan for training has a loss");
  const auto forward = static_cast<std::size_t>(loss - steps.begin());
  return phase == RnnPhase::forward ? steps.first(forward) : steps.subspan(forward + 1);
}

std::chrono::nanoseconds RnnTimer::run(RnnPhase phase) {
  executor_->enqueue_timed();
  executor_->stream().synchronize();
  const std::vector<Executor::StepTime> times = executor_->step_times();
  const std::span<const Step> timed = steps(phase);
  const auto first = static_cast<std::size_t>(timed.data() - executor_->plan().steps.data());
  return times[first + timed.size() - 1].end - times[first].begin;
}

std::int64_t RnnTimer::multiply_adds(RnnPhase phase) const {
  const std::int64_t forward =
      bench::multiply_adds(rnn_layer_graph(size_, RnnForm::fused, /*loss=*/false));
  return phase == RnnPhase::backward ? 2 * forward : forward;
}

std::size_t RnnTimer::memory_bytes() const { return executor_->memory().total(); }

std::string RnnTimer::implementation(RnnPhase phase) const {
  return std::ranges::max_element(steps(phase), {},
                                  [](const Step& step) { return step.work.multiply_adds; })
      ->implementation;
}

}  // namespace bench
