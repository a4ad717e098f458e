#include "variable_mgmt/tower.h"

#include <algorithm>

namespace bench {

Tower::Tower(const Graph& graph, Backend& backend, const ExecutorOptions& options,
             const InitialValues& values)
    : backend_(backend), executor_(graph, backend, options), stream_(backend.make_stream()) {
  for (const Variable& variable : executor_.graph().variables()) {
    const std::string& name = executor_.graph().value(variable.value).name;
    executor_.write_variable(name, values.at(name));
  }
  if (has_input("loss_scale")) {
    executor_.bind_input("loss_scale", &loss_scale_);
  }
  if (has_input("step")) {
    executor_.bind_input("step", &step_);
  }
}

bool Tower::has_input(const std::string& name) const {
  const Graph& graph = executor_.graph();
  const auto inputs = graph.inputs();
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](ValueId id) { return graph.value(id).name == name; });
}

void Tower::run(const float* images, const std::int32_t* labels, std::int32_t step) {
  executor_.bind_input("images", images);
  if (has_input("labels")) {
    executor_.bind_input("labels", labels);
  }
  step_ = step;
  executor_.run(*stream_);
}

}  // namespace bench
