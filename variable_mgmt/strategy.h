#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "variable_mgmt/gradient_sums.h"
#include "variable_mgmt/shared_region.h"
#include "variable_mgmt/tower.h"
#include "variable_mgmt/tower_group.h"

namespace bench {

/// A tower's part in how variables are updated: where they live, how its gradients meet the
/// others'. Made once the tower stands; used on the tower's thread.
class UpdateStrategy {
 public:
  UpdateStrategy() = default;
  UpdateStrategy(const UpdateStrategy&) = delete;
  UpdateStrategy& operator=(const UpdateStrategy&) = delete;
  virtual ~UpdateStrategy() = default;
  /// The tower's next run is one whose gradients update() applies: what may be done with those that
  /// become final meanwhile is done. Without it update() does it all.
  virtual void begin_step() {}
  /// How long the last update() took to meet the other towers and to add what they brought, by the
  /// host's clock; 0 where it met nobody.
  [[nodiscard]] virtual std::chrono::nanoseconds exchanged() const { return {}; }
  /// Enqueues, behind the tower's last run, that its gradients are applied to the variables as the
  /// tower's state says, and that this is fetched. Of several towers all have to call it: it waits
  /// for them and throws GroupCancelled where another one failed.
  virtual void update() = 0;
  /// After update() or its replay: where the tower's device waits for others', waits until it has
  /// done what is enqueued, and throws DeviceError, naming the tower, for one that does not come.
  virtual void watch() {}
  /// The tower has failed: ends what its device waits for of others.
  virtual void abandon() noexcept {}
  /// Where the gradients of several towers are added: "host"; "devices", which read each other's
  /// memory; "nccl". Empty where they are not.
  [[nodiscard]] virtual std::string_view gradients_meet() const { return {}; }
  /// Why begin_step(), the tower's run and update() cannot be recorded and replayed as a whole, but
  /// in parts of the run alone; empty where they can.
  [[nodiscard]] virtual std::string why_not_recorded() const { return {}; }
  /// As before the first update: sets the slots to their first values, and counts updates anew;
  /// does not wait.
  virtual void reset() = 0;
};

/// How the gradients of several towers become one.
enum class GradientReduction : std::uint8_t { sum, mean };
/// As --gradient_reduction names it.
std::string_view name_of(GradientReduction reduction);

/// What a strategy is told beside its towers.
struct StrategySettings {
  OptimizerSettings optimizer = {};
  /// Shared variables live on the first device, instead of being spread by size.
  bool one_holder = false;
  /// The gradients of the step before are applied; zeros in the first.
  bool relaxed = false;
  /// Steps read variables as they were before the last update, and apply the gradients of the step
  /// before; zeros in the first.
  bool staged = false;
  /// Of strategies in which every tower has the sums.
  SumSettings sums = {};
};

/// What the towers of a strategy share.
struct TowerMeeting {
  /// They add by the settings' algorithms; empty: shm. Throws UsageError for those that cannot be
  /// had between so many.
  TowerMeeting(int towers, const SumSettings& sums);
  /// Ends what the towers wait for each other for. From any thread.
  void cancel(int tower, const std::string& reason) noexcept;

  TowerGroup group;
  bool by_nccl;
  std::unique_ptr<Collective> collective;
  SharedRegion::Peers gradients;
  SharedRegion::Peers variables;
  /// Of each tower: what it has to say of the step in hand.
  std::vector<std::int32_t> votes;
};

/// What a strategy takes on a tower beside its executor, in bytes.
struct StrategyMemory {
  /// Of the memory that the tower computes in: slots, and regions of the step before.
  std::size_t computing = 0;
  /// Of the host's, where the tower's device has memory of its own: what the others see of its
  /// regions. Devices that turn out to read each other's memory take none.
  std::size_t meeting = 0;
};

/// A tower in its strategy.
struct TowerSeat {
  Tower& tower;
  int number = 0;
  TowerMeeting& meeting;
};

/// One row of strategies.inc.
struct StrategyRow {
  std::string_view name;
  /// Meets the other towers, whose threads make theirs.
  std::unique_ptr<UpdateStrategy> (*make)(const TowerSeat& seat, const StrategySettings& settings);
  /// What it takes on each of so many towers, with these segments in their flat regions, before it
  /// is made.
  std::vector<StrategyMemory> (*memory)(std::span<const OptimizerSegment> segments, int towers,
                                        const StrategySettings& settings);
  /// How it joins gradients where nobody says: as tf_cnn_benchmarks does. None: it does not.
  std::optional<GradientReduction> reduction;
};
std::span<const StrategyRow> all_strategies();

/// Throws UsageError for a name without a row, naming those there are.
const StrategyRow& find_strategy(std::string_view name);

}  // namespace bench
