#include "variable_mgmt/towers/tower.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>

#include "models/base/errors.h"
#include "models/zoo/zoo.h"

namespace bench {

Tower::Tower(const Graph& graph, Backend& backend, const ExecutorOptions& options,
             const InitialValues& values)
    : backend_(backend),
      executor_(graph, backend, options),
      staging_(backend.allocate_staging(sizeof(HostState))),
      host_(new (staging_->data()) HostState),
      device_state_(backend.allocate(sizeof(StepState))) {
  write_variables(values);
  const Graph& planned = executor_.graph();
  for (const ValueId id : planned.inputs()) {
    const Value& value = planned.value(id);
    constexpr std::array<std::string_view, 3> kOthers{"images", "step", "loss_scale"};
    if (std::ranges::find(kOthers, value.name) == kOthers.end()) {
      const Shape& shape = value.type.shape;
      check(
          shape.rank() < 4 || shape[1] == 1 || executor_.input_layout(value.name).token() == "nchw",
          "numbers are fed in canonical order");
      const auto elements = static_cast<std::size_t>(shape.elements());
      numbers_.push_back(
          {.name = value.name,
           .input = executor_.input(value.name),
           .elements = elements,
           .dtype = value.type.dtype,
           .wide = std::vector<double>(value.type.dtype == DType::f64 ? elements : 0)});
    }
  }
  if (const TensorType* type = find_input("images")) {
    images_ = executor_.input("images");
    image_elements_ = static_cast<std::size_t>(type->shape.elements());
    wide_images_.resize(type->dtype == DType::f64 ? image_elements_ : 0);
  }
  if (const TensorType* type = find_input("loss_scale")) {
    place_scalar("loss_scale", type->dtype == DType::f64 ? offsetof(StepState, loss_scale)
                                                         : offsetof(StepState, narrow_loss_scale));
  }
  if (find_input("step") != nullptr) {
    place_scalar("step", offsetof(StepState, parameters.number));
  }
  set_loss_scale(1);
}

void Tower::place_scalar(const std::string& input, std::size_t offset) {
  executor_.place(executor_.input(input), device_state_->data() + offset);
}

std::int64_t Tower::examples() const { return examples_of(executor_.graph()); }

std::vector<std::string> Tower::number_inputs() const {
  std::vector<std::string> names;
  for (const Numbers& each : numbers_) {
    names.push_back(each.name);
  }
  return names;
}

const TensorType* Tower::find_input(std::string_view name) const {
  const Graph& graph = executor_.graph();
  const auto inputs = graph.inputs();
  const auto found = std::find_if(inputs.begin(), inputs.end(),
                                  [&](ValueId id) { return graph.value(id).name == name; });
  return found == inputs.end() ? nullptr : &graph.type(*found);
}

void Tower::set_loss_scale(double scale) {
  fetch_state();
  wait();
  host_->given = {.updates = host_->seen.updates};
  host_->given.set_loss_scale(scale);
  stream().upload(std::as_bytes(std::span(&host_->given, 1)), state());
  fetch_state();
  wait();
}

void Tower::restore_state(const StepState& state) {
  host_->given = state;
  stream().upload(std::as_bytes(std::span(&host_->given, 1)), this->state());
  fetch_state();
  wait();
}

StepState* Tower::state() { return reinterpret_cast<StepState*>(device_state_->data()); }

void Tower::upload_parameters() {
  static_assert(offsetof(StepState, parameters) == 0);
  stream().upload(std::as_bytes(std::span(&host_->given.parameters, 1)), state());
}

void Tower::set_finite(std::int32_t finite) {
  host_->given.finite = finite;
  stream().upload(std::as_bytes(std::span(&host_->given.finite, 1)),
                  device_state_->data() + offsetof(StepState, finite));
}

void Tower::fetch_state() {
  stream().download(state(), std::as_writable_bytes(std::span(&host_->seen, 1)));
}

void Tower::feed(const float* images, const std::int32_t* labels, const ContentId& content) {
  if (images != nullptr && wide_images_.empty()) {
    executor_.feed(*images_, std::as_bytes(std::span(images, image_elements_)), content);
  } else if (images != nullptr) {
    std::copy(images, images + wide_images_.size(), wide_images_.begin());
    // This memory is rewritten for each batch, so `content` does not identify it.
    executor_.feed(*images_, std::as_bytes(std::span(wide_images_)));
  }
  feed_numbers("labels", labels);
}

void Tower::feed_pixels(const std::uint8_t* pixels, const std::int32_t* labels,
                        const ContentId& content) {
  executor_.feed_pixels(*images_, std::span(pixels, image_elements_), content);
  feed_numbers("labels", labels);
}

void Tower::feed_numbers(std::string_view input, const void* numbers, const ContentId& content) {
  const auto found = std::ranges::find(numbers_, input, &Numbers::name);
  if (found == numbers_.end()) {
    // Inference reads nothing that is for the loss. Some networks have a loss without labels.
    if (input != "labels" && executor_.graph().outputs().contains("loss")) {
      throw InternalError(fmt::format("the network has no input {}", input));
    }
    return;
  }
  if (!found->wide.empty()) {
    std::copy_n(static_cast<const float*>(numbers), found->elements, found->wide.begin());
    executor_.feed(found->input, std::as_bytes(std::span(found->wide)));
  } else {
    executor_.feed(
        found->input,
        {static_cast<const std::byte*>(numbers), found->elements * size_of(found->dtype)}, content);
  }
}

void Tower::write_numbers(const std::string& input, std::span<const float> numbers) {
  if (find_input(input)->dtype == DType::f64) {
    const std::vector<double> wide(numbers.begin(), numbers.end());
    executor_.write_input(input, std::as_bytes(std::span(wide)));
  } else {
    executor_.write_input(input, std::as_bytes(numbers));
  }
}

void Tower::enqueue(const float* images, const std::int32_t* labels,
                    const StepParameters& parameters) {
  feed(images, labels);
  set_parameters(parameters);
  upload_parameters();
  enqueue_run();
}

void Tower::run(const float* images, const std::int32_t* labels, std::int32_t step) {
  enqueue(images, labels, {.number = step});
  wait();
}

void Tower::run_canonical(std::span<const float> images, std::span<const std::int32_t> labels,
                          std::int32_t step) {
  write_batch(images, labels);
  set_parameters({.number = step});
  upload_parameters();
  executor_.run();
}

void Tower::run_observed(std::span<const float> images, std::span<const std::int32_t> labels,
                         std::int32_t step, const Executor::Observer& observer) {
  write_batch(images, labels);
  set_parameters({.number = step});
  upload_parameters();
  executor_.run_observed(observer);
}

void Tower::write_batch(std::span<const float> images, std::span<const std::int32_t> labels) {
  if (!images.empty() && wide_images_.empty()) {
    executor_.write_input("images", std::as_bytes(images));
  } else if (!images.empty()) {
    std::copy(images.begin(), images.end(), wide_images_.begin());
    executor_.write_input("images", std::as_bytes(std::span(wide_images_)));
  }
  if (!labels.empty() && find_input("labels") != nullptr) {
    write_numbers("labels", labels);
  }
}

void Tower::write_variables(const InitialValues& values) {
  for (const Variable& variable : executor_.graph().variables()) {
    const std::string& name = executor_.graph().value(variable.value).name;
    executor_.write_variable(name, values.at(name));
  }
}

}  // namespace bench
