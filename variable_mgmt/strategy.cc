#include "variable_mgmt/strategy.h"

#include <array>

#include "models/base/errors.h"

namespace bench {

std::unique_ptr<UpdateStrategy> make_single_device(std::span<Tower* const> towers,
                                                   const OptimizerSettings& settings);
std::size_t single_device_bytes(std::size_t elements, const OptimizerSettings& settings);

std::span<const StrategyRow> all_strategies() {
  static constexpr std::array kRows{
#define BENCH_STRATEGY(name, make, bytes) StrategyRow{name, make, bytes},
#include "variable_mgmt/strategies/strategies.inc"
#undef BENCH_STRATEGY
  };
  return kRows;
}

const StrategyRow& find_strategy(std::string_view name) {
  std::string names;
  for (const StrategyRow& row : all_strategies()) {
    if (row.name == name) {
      return row;
    }
    names += cat(names.empty() ? "" : ", ", row.name);
  }
  throw UsageError(cat("--variable_update=", name, ": not built yet; built are ", names));
}

}  // namespace bench
