#include "models/base/errors.h"
#include "variable_mgmt/strategy.h"

namespace bench {
namespace {

/// Variables and slots live on the one tower's device; its own gradients update them.
class SingleDevice final : public UpdateStrategy {
 public:
  SingleDevice(Tower& tower, const OptimizerSettings& settings)
      : tower_(tower),
        optimizer_(tower.backend().make_optimizer(settings, tower.executor().segments())),
        automatic_(settings.loss_scale.automatic) {
    check(tower.executor().trained_dtype() == settings.dtype,
          "single_device: the optimizer is made for another type than the variables have");
    for (std::size_t slot = 0; slot < row_of(settings.rule).slots(); ++slot) {
      memory_.push_back(tower.backend().allocate(tower.executor().variables().bytes));
      slots_.push_back(memory_.back()->data());
    }
    reset();
  }

  ~SingleDevice() override { finish(tower_.stream()); }
  SingleDevice(const SingleDevice&) = delete;
  SingleDevice& operator=(const SingleDevice&) = delete;

  void update() override {
    Executor& executor = tower_.executor();
    if (automatic_) {
      optimizer_->judge(tower_.stream(), executor.gradients().data, tower_.state());
    }
    optimizer_->launch(tower_.stream(),
                       {.variables = executor.variables().data,
                        .gradients = executor.gradients().data,
                        .slots = slots_,
                        .copies = executor.copies().data},
                       tower_.state());
    tower_.fetch_state();
  }
  void reset() override { optimizer_->reset(tower_.stream(), slots_, tower_.state()); }

 private:
  Tower& tower_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<std::unique_ptr<DeviceMemory>> memory_;
  std::vector<void*> slots_;
  /// Whether the loss scale asks for a look at the gradients.
  bool automatic_;
};

}  // namespace

std::unique_ptr<UpdateStrategy> make_single_device(std::span<Tower* const> towers,
                                                   const OptimizerSettings& settings) {
  check(towers.size() == 1, "single_device: more than one tower");
  return std::make_unique<SingleDevice>(*towers[0], settings);
}

std::size_t single_device_bytes(std::size_t elements, const OptimizerSettings& settings) {
  return slot_bytes(settings, elements);
}

}  // namespace bench
