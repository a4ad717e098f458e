#include "variable_mgmt/strategy.h"

#include <array>

#include "models/base/errors.h"
#include "variable_mgmt/strategies/own_strategies.h"

namespace bench {

std::string_view name_of(GradientReduction reduction) {
  return reduction == GradientReduction::sum ? "sum" : "mean";
}

std::span<const StrategyRow> all_strategies() {
  static constexpr std::array kRows{
#define BENCH_STRATEGY(name, make, bytes, reduction) StrategyRow{name, make, bytes, reduction},
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
