#include <cstddef>

#include "models/base/errors.h"
#include "variable_mgmt/strategy.h"

namespace bench {
namespace {

/// Variables and slots live on the one tower's device; its own gradients update them.
class SingleDevice final : public UpdateStrategy {
 public:
  SingleDevice(Tower& tower, const OptimizerSettings& settings)
      : tower_(tower),
        optimizer_(tower.backend().make_optimizer(settings, tower.executor().segments())) {
    check(tower.executor().trained_dtype() == settings.dtype,
          "single_device: the optimizer is made for another type than the variables have");
    if (settings.kind == OptimizerKind::momentum) {
      slots_ = tower.backend().allocate(tower.executor().variables().bytes);
    }
  }

  void update(double learning_rate, double gradient_scale) override {
    Executor& executor = tower_.executor();
    optimizer_->launch(tower_.stream(), executor.variables().data, executor.gradients().data,
                       slots_ == nullptr ? nullptr : slots_->data(), learning_rate, gradient_scale);
  }
  void reset() override {
    if (slots_ != nullptr) {
      tower_.stream().fill(slots_->data(), std::byte{0}, tower_.executor().variables().bytes);
    }
  }
  bool gradients_are_finite() override {
    tower_.wait();
    return optimizer_->finite(tower_.executor().gradients().data);
  }

 private:
  Tower& tower_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<DeviceMemory> slots_;
};

}  // namespace

std::unique_ptr<UpdateStrategy> make_single_device(std::span<Tower* const> towers,
                                                   const OptimizerSettings& settings) {
  check(towers.size() == 1, "single_device: more than one tower");
  return std::make_unique<SingleDevice>(*towers[0], settings);
}

std::size_t single_device_bytes(std::size_t elements, const OptimizerSettings& settings) {
  return settings.kind == OptimizerKind::momentum ? elements * size_of(settings.dtype) : 0;
}

}  // namespace bench
