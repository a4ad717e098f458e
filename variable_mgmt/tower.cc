#include "variable_mgmt/tower.h"

#include <algorithm>

namespace bench {

Tower::Tower(const Graph& graph, Backend& backend, const ExecutorOptions& options,
             const InitialValues& values)
    : backend_(backend), executor_(graph, backend, options), stream_(backend.make_stream()) {
  write_variables(values);
  if (const TensorType* type = find_input("loss_scale")) {
    const bool wide = type->dtype == DType::f64;
    executor_.bind_input("loss_scale", wide ? static_cast<const void*>(&wide_loss_scale_)
                                            : static_cast<const void*>(&loss_scale_));
  }
  if (const TensorType* type = find_input("images"); type->dtype == DType::f64) {
    wide_images_.resize(static_cast<std::size_t>(type->shape.elements()));
  }
  if (find_input("step") != nullptr) {
    executor_.bind_input("step", &step_);
  }
}

const TensorType* Tower::find_input(const std::string& name) const {
  const Graph& graph = executor_.graph();
  const auto inputs = graph.inputs();
  const auto found = std::find_if(inputs.begin(), inputs.end(),
                                  [&](ValueId id) { return graph.value(id).name == name; });
  return found == inputs.end() ? nullptr : &graph.type(*found);
}

void Tower::run(const float* images, const std::int32_t* labels, std::int32_t step) {
  if (wide_images_.empty()) {
    executor_.bind_input("images", images);
  } else {
    std::copy(images, images + wide_images_.size(), wide_images_.begin());
    executor_.bind_input("images", wide_images_.data());
  }
  if (find_input("labels") != nullptr) {
    executor_.bind_input("labels", labels);
  }
  run_bound(step);
}

void Tower::run_canonical(std::span<const float> images, std::span<const std::int32_t> labels,
                          std::int32_t step) {
  write_batch(images, labels);
  run_bound(step);
}

void Tower::run_observed(std::span<const float> images, std::span<const std::int32_t> labels,
                         std::int32_t step, const Executor::Observer& observer) {
  write_batch(images, labels);
  step_ = step;
  executor_.run_observed(*stream_, observer);
}

void Tower::write_batch(std::span<const float> images, std::span<const std::int32_t> labels) {
  if (wide_images_.empty()) {
    executor_.write_input("images", std::as_bytes(images));
  } else {
    std::copy(images.begin(), images.end(), wide_images_.begin());
    executor_.write_input("images", std::as_bytes(std::span(wide_images_)));
  }
  if (find_input("labels") != nullptr) {
    executor_.write_input("labels", std::as_bytes(labels));
  }
}

void Tower::run_bound(std::int32_t step) {
  step_ = step;
  executor_.run(*stream_);
}

void Tower::write_variables(const InitialValues& values) {
  for (const Variable& variable : executor_.graph().variables()) {
    const std::string& name = executor_.graph().value(variable.value).name;
    executor_.write_variable(name, values.at(name));
  }
}

}  // namespace bench
