#include "bench/kernels/lone_step.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "models/ops/number_range.h"

namespace bench {
namespace {

constexpr std::uint64_t kSeed = 1234;

/// The position of the step's input whose memory the plan reuses for this output.
std::optional<std::size_t> place_of(const Plan& plan, const Step& step, std::size_t output) {
  const auto same_place = [&](std::size_t input) {
    const auto& buffers = plan.lowered.buffers;
    // Both exist during the step, so equal offsets mean the same memory.
    return input == output ||
           (buffers[input].region == Buffer::Region::activation &&
            buffers[output].region == Buffer::Region::activation && buffers[input].bytes > 0 &&
            buffers[output].bytes > 0 && plan.memory.offsets[input] == plan.memory.offsets[output]);
  };
  const auto found = std::find_if(step.inputs.begin(), step.inputs.end(), same_place);
  if (found == step.inputs.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - step.inputs.begin());
}

std::string text_of(const Buffer& buffer) {
  if (buffer.type.opaque) {
    return fmt::format("opaque {} B", buffer.bytes);
  }
  std::ostringstream text;
  text << buffer.type << " " << buffer.layout;
  return text.str();
}

std::string shapes_of(const Plan& plan, const Step& step) {
  std::string text = "(";
  for (const std::size_t input : step.inputs) {
    text += fmt::format("{}{}", text.size() == 1 ? "" : ", ", text_of(plan.lowered.buffers[input]));
  }
  text += ") -> (";
  const char* separator = "";
  for (const std::size_t output : step.outputs) {
    text += separator + text_of(plan.lowered.buffers[output]);
    if (const auto place = place_of(plan, step, output)) {
      text += fmt::format(" in place of input {}", *place);
    }
    separator = ", ";
  }
  return text + ")";
}

bool alike(const Step& a, const Step& b) {
  return a.op == b.op && a.implementation == b.implementation && a.attributes == b.attributes;
}

/// Numbers uniformly distributed from 0.5 to 1.5, in random order. They are valid variances, and no
/// product of two is small enough to slow down a processor.
std::vector<float> numbers_around_one(std::int64_t count) {
  constexpr std::int64_t kPeriod = std::int64_t{1} << 16;
  RandomStream random(kSeed);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    numbers[at] = i < kPeriod ? 0.5F + random.uniform() : numbers[at - std::size_t{kPeriod}];
  }
  return numbers;
}

}  // namespace

std::vector<DistinctStep> distinct_steps(const Plan& plan) {
  const std::vector<Step>& steps = plan.lowered.steps;
  std::vector<DistinctStep> distinct;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    std::string shapes = shapes_of(plan, steps[s]);
    const auto found =
        std::find_if(distinct.begin(), distinct.end(), [&](const DistinctStep& other) {
          return other.shapes == shapes && alike(steps[other.step], steps[s]);
        });
    if (found == distinct.end()) {
      distinct.push_back({.step = s, .count = 1, .shapes = std::move(shapes)});
    } else {
      ++found->count;
    }
  }
  return distinct;
}

LoneStep::LoneStep(const Plan& plan, std::size_t step, Backend& backend)
    : plan_(plan),
      backend_(backend),
      stream_(backend.make_stream()),
      begin_(backend.make_event()),
      end_(backend.make_event()),
      staging_(backend, *stream_),
      bound_(bind(step, true)) {
  keep_overwritten();
}

std::chrono::nanoseconds LoneStep::run() {
  for (const Overwritten& kept : overwritten_) {
    stream_->copy(kept.contents->data(), kept.input.data, kept.input.bytes);
  }
  stream_->synchronize();
  if (!backend_.shares_host_memory()) {
    // The host's clock would include the launch and the wait.
    stream_->record(*begin_);
    enqueue(bound_);
    stream_->record(*end_);
    stream_->synchronize();
    return end_->since(*begin_);
  }
  const auto begin = std::chrono::steady_clock::now();
  launch(bound_);
  return std::chrono::steady_clock::now() - begin;
}

void LoneStep::enqueue(Bound& bound) {
  bound.kernel->launch(*stream_, bound.inputs, bound.outputs, bound.workspace->data());
}

void LoneStep::launch(Bound& bound) {
  enqueue(bound);
  stream_->synchronize();
}

/// Allocates what the step reads and writes; with `in_place`, outputs reuse inputs like in the
/// plan.
LoneStep::Bound LoneStep::bind(std::size_t index, bool in_place) {
  const Step& step = plan_.lowered.steps[index];
  // The kernels that produce opaque values also produce the tensors that belong to them.
  for (const bool opaque : {true, false}) {
    for (const std::size_t input : step.inputs) {
      if (plan_.lowered.buffers[input].type.opaque == opaque) {
        prepare(input);
      }
    }
  }
  Bound bound{.kernel = step.make(),
              .inputs = {},
              .outputs = {},
              .workspace = backend_.allocate(step.workspace_bytes)};
  for (const std::size_t input : step.inputs) {
    bound.inputs.push_back(views_.at(input));
  }
  for (const std::size_t output : step.outputs) {
    const auto place = in_place ? place_of(plan_, step, output) : std::nullopt;
    if (place) {
      bound.outputs.push_back(
          {.data = bound.inputs[*place].data, .bytes = plan_.lowered.buffers[output].bytes});
    } else {
      const auto known = views_.find(output);
      bound.outputs.push_back(known == views_.end() ? allocate(output) : known->second);
    }
  }
  return bound;
}

/// Allocates and fills a buffer, once.
void LoneStep::prepare(std::size_t buffer) {
  if (views_.contains(buffer)) {
    return;
  }
  const Buffer& entry = plan_.lowered.buffers[buffer];
  if (!entry.type.opaque) {
    fill(entry, allocate(buffer));
    return;
  }
  const auto& steps = plan_.lowered.steps;
  const auto producer = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
    return std::find(step.outputs.begin(), step.outputs.end(), buffer) != step.outputs.end();
  });
  check(producer != steps.end(), fmt::format("no step writes {}", entry.name));
  Bound before = bind(static_cast<std::size_t>(producer - steps.begin()), false);
  launch(before);
}

void LoneStep::fill(const Buffer& buffer, TensorView memory) {
  if (buffer.type.dtype == DType::s32) {
    fill_integers(buffer, memory);
    return;
  }
  const TensorType floats{.dtype = DType::f32, .shape = buffer.type.shape};
  auto numbers = numbers_around_one(buffer.type.shape.elements());
  const auto reorder =
      backend_.make_reorder({.type = floats, .layout = backend_.canonical_layout(floats)},
                            {.type = buffer.type, .layout = buffer.layout});
  const TensorView from = staging_.input(std::as_bytes(std::span(numbers)));
  reorder->launch(*stream_, std::span(&from, 1), std::span(&memory, 1), nullptr);
  stream_->synchronize();
}

void LoneStep::fill_integers(const Buffer& buffer, TensorView memory) {
  const std::optional<NumberRange> range = number_range(plan_.graph, buffer.value);
  if (!range) {
    return;
  }
  std::vector<std::int32_t> ids(memory.bytes / sizeof(std::int32_t));
  RandomStream random(0);
  std::generate(ids.begin(), ids.end(), [&] { return range->draw(random); });
  const TensorView from = staging_.input(std::as_bytes(std::span(ids)));
  stream_->copy(from.data, memory.data, memory.bytes);
  stream_->synchronize();
}

TensorView LoneStep::allocate(std::size_t buffer) {
  const std::size_t bytes = plan_.lowered.buffers[buffer].bytes;
  memory_.push_back(backend_.allocate(bytes));
  const TensorView view{.data = memory_.back()->data(), .bytes = bytes};
  views_.emplace(buffer, view);
  return view;
}

void LoneStep::keep_overwritten() {
  for (const TensorView& input : bound_.inputs) {
    const bool written =
        std::any_of(bound_.outputs.begin(), bound_.outputs.end(),
                    [&](const TensorView& output) { return output.data == input.data; });
    if (written && input.bytes > 0) {
      auto contents = backend_.allocate(input.bytes);
      stream_->copy(input.data, contents->data(), input.bytes);
      overwritten_.push_back({.input = input, .contents = std::move(contents)});
    }
  }
}

}  // namespace bench
