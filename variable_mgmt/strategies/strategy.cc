#include "variable_mgmt/strategies/strategy.h"

#include <array>

#include "models/base/errors.h"
#include "variable_mgmt/collectives/nccl_collective.h"
#include "variable_mgmt/strategies/own_strategies.h"
#include "variable_mgmt/world/remote_sum.h"

namespace bench {

std::string_view name_of(GradientReduction reduction) {
  return reduction == GradientReduction::sum ? "sum" : "mean";
}

TowerCommunicator::TowerCommunicator(int towers, const SumSettings& sums, World* processes)
    : barrier(towers),
      by_nccl(adds_by_nccl(sums.spec)),
      world(processes),
      gradients(towers),
      variables(towers),
      sparse(static_cast<std::size_t>(towers)),
      votes(static_cast<std::size_t>(towers)) {
  std::vector<std::string> names;
  for (int tower = 0; tower < towers; ++tower) {
    names.push_back(fmt::format("tower {}", tower));
  }
  if (is_remote()) {
    collective = make_world_collective(*world, {.names = std::move(names), .spec = sums.spec},
                                       sums.nccl_timeout, sums.nccl_id);
    return;
  }
  collective =
      make_collective({.names = std::move(names), .spec = sums.spec, .ring_order = sums.ring_order},
                      sums.nccl_timeout);
}

bool TowerCommunicator::has_servers() const {
  return world != nullptr && world->size() > world->workers();
}

bool TowerCommunicator::is_remote() const {
  return world != nullptr && world->size() > 1 && !has_servers();
}

void TowerCommunicator::cancel(int tower, const std::string& reason) noexcept {
  barrier.cancel();
  collective->cancel(tower, reason);
}

std::span<const StrategyRow> all_strategies() {
  static constexpr std::array kRows{
#define BENCH_STRATEGY(name, make, memory, reduction) StrategyRow{name, make, memory, reduction},
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
    names += names.empty() ? "" : ", ";
    names += row.name;
  }
  throw UsageError(
      fmt::format("--variable_update={}: not supported yet; accepted: {}", name, names));
}

}  // namespace bench
