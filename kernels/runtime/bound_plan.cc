#include "kernels/runtime/bound_plan.h"

namespace bench {

BoundPlan::BoundPlan(const Plan& plan, Backend& backend)
    : plan_(plan),
      variables_(backend.allocate(plan.memory.report.variables)),
      gradients_(backend.allocate(plan.memory.report.gradients)),
      copies_(backend.allocate(plan.memory.report.copies)),
      activations_(backend.allocate(plan.memory.report.activations)),
      workspace_(backend.allocate(plan.memory.report.workspace)),
      inputs_(backend.shares_host_memory() ? nullptr : backend.allocate(plan.memory.report.inputs)),
      steps_(bind(plan.lowered.steps)),
      refreshes_(bind(plan.lowered.refreshes)) {}

std::vector<BoundStep> BoundPlan::bind(const std::vector<Step>& steps) const {
  std::vector<BoundStep> all;
  for (const Step& step : steps) {
    BoundStep bound{.kernel = step.make(), .inputs = {}, .outputs = {}};
    for (const std::size_t buffer : step.inputs) {
      bound.inputs.push_back(view(buffer));
    }
    for (const std::size_t buffer : step.outputs) {
      bound.outputs.push_back(view(buffer));
    }
    all.push_back(std::move(bound));
  }
  return all;
}

TensorView BoundPlan::view(std::size_t buffer) const {
  const Buffer& entry = plan_.lowered.buffers[buffer];
  const DeviceMemory* region = nullptr;
  switch (entry.region) {
    case Buffer::Region::input:
      if (inputs_ == nullptr) {
        return {.data = nullptr, .bytes = entry.bytes};
      }
      region = inputs_.get();
      break;
    case Buffer::Region::variable:
      region = variables_.get();
      break;
    case Buffer::Region::gradient:
      region = gradients_.get();
      break;
    case Buffer::Region::copy:
      region = copies_.get();
      break;
    case Buffer::Region::activation:
      region = activations_.get();
      break;
  }
  return {.data = region->data() + plan_.memory.offsets[buffer], .bytes = entry.bytes};
}

TensorView BoundPlan::variables() const {
  return {.data = variables_->data(), .bytes = plan_.memory.report.variables};
}
TensorView BoundPlan::gradients() const {
  return {.data = gradients_->data(), .bytes = plan_.memory.report.gradients};
}
TensorView BoundPlan::copies() const {
  return {.data = copies_->data(), .bytes = plan_.memory.report.copies};
}
TensorView BoundPlan::activations() const {
  return {.data = activations_->data(), .bytes = plan_.memory.report.activations};
}
TensorView BoundPlan::workspace() const {
  return {.data = workspace_->data(), .bytes = plan_.memory.report.workspace};
}

}  // namespace bench
