#include "variable_mgmt/gradients/sparse_gradients.h"
#include "variable_mgmt/strategies/own_strategies.h"
#include "variable_mgmt/strategies/range_optimizer.h"

namespace bench {
namespace {

/// Every tower has its own variables and slots, which its own gradients update.
class Independent final : public UpdateStrategy {
 public:
  Independent(Tower& tower, const OptimizerSettings& settings)
      : tower_(tower),
        optimizer_(tower, settings, whole_range(tower.executor())),
        automatic_(settings.loss_scale.automatic) {}

  void update() override {
    Executor& executor = tower_.executor();
    if (automatic_) {
      optimizer_.judge(executor.gradients().data);
    }
    optimizer_.launch(executor.variables().data, executor.gradients().data, sparse_.gather());
    tower_.fetch_state();
  }
  void reset() override { optimizer_.reset(); }
  [[nodiscard]] std::vector<StateRegion> state_regions() override {
    return optimizer_.state_regions();
  }

 private:
  Tower& tower_;
  RangeOptimizer optimizer_;
  SparseGradients sparse_{tower_};
  /// True if the loss scale requires a check of the gradients.
  bool automatic_;
};

}  // namespace

std::unique_ptr<UpdateStrategy> make_independent(const TowerContext& context,
                                                 const StrategySettings& settings) {
  return std::make_unique<Independent>(context.tower, settings.optimizer);
}

std::vector<StrategyMemory> independent_memory(std::span<const OptimizerSegment> segments,
                                               int towers, const StrategySettings& settings) {
  const std::size_t slots = slot_bytes(settings.optimizer, end_of(segments));
  return std::vector<StrategyMemory>(static_cast<std::size_t>(towers), {.computing = slots});
}

}  // namespace bench
