#include "variable_mgmt/tower.h"

#include <algorithm>
#include <cstddef>

namespace bench {

Tower::Tower(const Graph& graph, Backend& backend, const ExecutorOptions& options,
             const InitialValues& values)
    : backend_(backend),
      executor_(graph, backend, options),
      images_(executor_.input("images")),
      device_scalars_(backend.allocate(sizeof(StepScalars))) {
  write_variables(values);
  if (find_input("labels") != nullptr) {
    labels_ = executor_.input("labels");
  }
  if (const TensorType* type = find_input("loss_scale")) {
    place_scalar("loss_scale", type->dtype == DType::f64 ? offsetof(StepScalars, wide_loss_scale)
                                                         : offsetof(StepScalars, loss_scale));
  }
  if (find_input("step") != nullptr) {
    place_scalar("step", offsetof(StepScalars, step));
  }
  if (const TensorType* type = find_input("images"); type->dtype == DType::f64) {
    wide_images_.resize(static_cast<std::size_t>(type->shape.elements()));
  }
}

void Tower::place_scalar(const std::string& input, std::size_t offset) {
  executor_.place(executor_.input(input), device_scalars_->data() + offset);
}

const TensorType* Tower::find_input(const std::string& name) const {
  const Graph& graph = executor_.graph();
  const auto inputs = graph.inputs();
  const auto found = std::find_if(inputs.begin(), inputs.end(),
                                  [&](ValueId id) { return graph.value(id).name == name; });
  return found == inputs.end() ? nullptr : &graph.type(*found);
}

void Tower::upload_scalars(std::int32_t step) {
  scalars_.step = step;
  stream().upload(std::as_bytes(std::span(&scalars_, 1)), device_scalars_->data());
}

void Tower::enqueue(const float* images, const std::int32_t* labels, std::int32_t step) {
  if (wide_images_.empty()) {
    executor_.feed(images_, images);
  } else {
    std::copy(images, images + wide_images_.size(), wide_images_.begin());
    executor_.feed(images_, wide_images_.data());
  }
  if (labels_) {
    executor_.feed(*labels_, labels);
  }
  upload_scalars(step);
  executor_.enqueue();
}

void Tower::run(const float* images, const std::int32_t* labels, std::int32_t step) {
  enqueue(images, labels, step);
  wait();
}

void Tower::run_canonical(std::span<const float> images, std::span<const std::int32_t> labels,
                          std::int32_t step) {
  write_batch(images, labels);
  upload_scalars(step);
  executor_.run();
}

void Tower::run_observed(std::span<const float> images, std::span<const std::int32_t> labels,
                         std::int32_t step, const Executor::Observer& observer) {
  write_batch(images, labels);
  upload_scalars(step);
  executor_.run_observed(observer);
}

void Tower::write_batch(std::span<const float> images, std::span<const std::int32_t> labels) {
  if (wide_images_.empty()) {
    executor_.write_input("images", std::as_bytes(images));
  } else {
    std::copy(images.begin(), images.end(), wide_images_.begin());
    executor_.write_input("images", std::as_bytes(std::span(wide_images_)));
  }
  if (labels_) {
    executor_.write_input("labels", std::as_bytes(labels));
  }
}

void Tower::write_variables(const InitialValues& values) {
  for (const Variable& variable : executor_.graph().variables()) {
    const std::string& name = executor_.graph().value(variable.value).name;
    executor_.write_variable(name, values.at(name));
  }
}

}  // namespace bench
