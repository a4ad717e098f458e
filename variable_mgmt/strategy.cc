#include "variable_mgmt/strategy.h"

#include <array>

#include "models/base/errors.h"
#include "variable_mgmt/strategies/own_strategies.h"

namespace bench {

std::string_view name_of(GradientReduction reduction) {
  return reduction == GradientReduction::sum ? "sum" : "mean";
}

TowerMeeting::TowerMeeting(int towers, const std::vector<AllReduceRange>& spec)
    : group(towers), gradients(towers), variables(towers), votes(static_cast<std::size_t>(towers)) {
  CollectiveOptions options{.names = {}, .spec = spec};
  for (int tower = 0; tower < towers; ++tower) {
    options.names.push_back(cat("tower ", tower));
  }
  collective = make_host_collective(std::move(options));
}

void TowerMeeting::cancel(int tower, const std::string& reason) noexcept {
  group.cancel();
  collective->cancel(tower, reason);
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
