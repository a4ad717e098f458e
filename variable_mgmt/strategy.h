#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "variable_mgmt/tower.h"

namespace bench {

/// Decides where variables live and how gradients meet. Made once the towers stand.
class UpdateStrategy {
 public:
  UpdateStrategy() = default;
  UpdateStrategy(const UpdateStrategy&) = delete;
  UpdateStrategy& operator=(const UpdateStrategy&) = delete;
  virtual ~UpdateStrategy() = default;
  /// Enqueues, behind the towers' last run, that its gradients are applied to the variables as the
  /// towers' states say, and that these are fetched.
  virtual void update() = 0;
  /// As before the first update: sets the slots to their first values, and counts updates anew;
  /// does not wait.
  virtual void reset() = 0;
};

/// One row of strategies.inc.
struct StrategyRow {
  std::string_view name;
  std::unique_ptr<UpdateStrategy> (*make)(std::span<Tower* const> towers,
                                          const OptimizerSettings& settings);
  /// Bytes of slots for one tower with so many elements in its flat region, before it is made.
  std::size_t (*bytes)(std::size_t elements, const OptimizerSettings& settings);
};
std::span<const StrategyRow> all_strategies();

/// Throws UsageError for a name without a row, naming those there are.
const StrategyRow& find_strategy(std::string_view name);

}  // namespace bench
