#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "variable_mgmt/gradients/gradient_sums.h"
#include "variable_mgmt/gradients/shared_region.h"
#include "variable_mgmt/gradients/sparse_gradients.h"
#include "variable_mgmt/servers/protocol.h"
#include "variable_mgmt/towers/barrier.h"
#include "variable_mgmt/towers/tower.h"

namespace bench {

class World;

/// Memory of a tower that holds part of the state of a training run, laid out like the given range
/// of the tower's variables().
struct StateRegion {
  /// "optimizer/0" for the first slot, "previous_gradients" and so on, or kHeldVariables.
  std::string name;
  RegionRange range = {};
  void* data = nullptr;
};

/// The region of variables that the last update wrote, if steps read older ones.
inline constexpr std::string_view kHeldVariables = "held_variables";

/// A tower's part in updating variables: where they are, and how gradients are reduced. Made after
/// its tower; used on the tower's thread.
class UpdateStrategy {
 public:
  UpdateStrategy() = default;
  UpdateStrategy(const UpdateStrategy&) = delete;
  UpdateStrategy& operator=(const UpdateStrategy&) = delete;
  virtual ~UpdateStrategy() = default;
  /// Announces that update() applies the gradients of the tower's next run, so that they can be
  /// processed as they become final. Without this call, update() does all the work.
  virtual void begin_step() {}
  /// Host time that the last update() took to wait for the other towers and to reduce their
  /// gradients. 0 if it did neither.
  [[nodiscard]] virtual std::chrono::nanoseconds exchanged() const { return {}; }
  /// Enqueues, after the tower's last run, the update of the variables as the tower's state says,
  /// and the fetch of that state. With several towers, all must call it: it waits for them and
  /// throws Cancelled if another one failed.
  virtual void update() = 0;
  /// Call it after update() or its replay. If the tower's device waits for other devices, waits
  /// until the enqueued work is done. Throws DeviceError, which names the tower, if another device
  /// does not arrive.
  virtual void watch() {}
  /// Ends the device's waits for other towers after this tower has failed.
  virtual void abandon() noexcept {}
  /// Null if the strategy does not add gradients while they become final.
  [[nodiscard]] virtual const SumTimes* sum_times() const { return nullptr; }
  /// With server processes: the first server's reply to the last update().
  [[nodiscard]] virtual std::optional<ServerReply> reply() const { return {}; }
  /// Where the gradients of several towers are added: "host", "nccl", or "devices" that read each
  /// other's memory. Empty if they are not added.
  [[nodiscard]] virtual std::string_view reduced_on() const { return {}; }
  /// Why begin_step(), the tower's run and update() cannot be recorded and replayed as a whole, but
  /// only parts of the run. Empty if they can.
  [[nodiscard]] virtual std::string why_not_recorded() const { return {}; }
  /// Resets the slots to their first values and the count of updates to 0. Does not wait.
  virtual void reset() = 0;
  /// What the next update() depends on besides the variables and the tower's state. Towers that
  /// share variables have regions of equal contents, or of different ranges.
  [[nodiscard]] virtual std::vector<StateRegion> state_regions() = 0;
};

/// How the gradients of several towers are combined.
enum class GradientReduction : std::uint8_t { sum, mean };
/// The name in --gradient_reduction.
std::string_view name_of(GradientReduction reduction);

/// A strategy's settings.
struct StrategySettings {
  OptimizerSettings optimizer = {};
  /// Shared variables are on the first device instead of being distributed by size.
  bool one_holder = false;
  /// Server processes hold the shared variables (servers/).
  bool served = false;
  /// Other processes' gradients are added, too.
  bool remote = false;
  /// Apply the gradients of the previous step; zeros in the first.
  bool relaxed = false;
  /// Steps read the variables from before the last update, and apply the gradients of the previous
  /// step; zeros in the first.
  bool staged = false;
  /// For strategies in which every tower has the sums.
  SumSettings sums = {};
};

/// The state that the towers of a strategy share.
struct TowerCommunicator {
  /// The towers add with the algorithms of `sums`; empty: shm. Throws UsageError for algorithms
  /// that are not available for that many towers.
  /// If `processes` is not null, it must outlive this. If it has no parameter servers, the towers
  /// also add the other processes' gradients.
  TowerCommunicator(int towers, const SumSettings& sums, World* processes = nullptr);
  /// Ends the towers' waits for each other. From any thread.
  void cancel(int tower, const std::string& reason) noexcept;

  /// There are other processes whose gradients are added.
  [[nodiscard]] bool is_remote() const;
  /// There are processes that hold the variables (servers/).
  [[nodiscard]] bool has_servers() const;

  Barrier barrier;
  bool by_nccl;
  World* world;
  std::unique_ptr<Collective> collective;
  SharedRegion::Peers gradients;
  SharedRegion::Peers variables;
  SparseGradients::Towers sparse;
  /// Each tower's vote on the current step.
  std::vector<std::int32_t> votes;
};

/// Memory of a strategy on one tower, in addition to the executor, in bytes.
struct StrategyMemory {
  /// In the memory that the tower computes in: slots, and regions of the previous step.
  std::size_t computing = 0;
  /// In host memory, for a device with separate memory: the copies of its regions that the other
  /// towers see. Devices that turn out to read each other's memory need none.
  std::size_t communicator = 0;
  /// In host memory: what is sent to server processes and received from them.
  std::size_t exchange = 0;
};

/// A tower's context in its strategy.
struct TowerContext {
  Tower& tower;
  int number = 0;
  TowerCommunicator& communicator;
};

/// One row of strategies.inc.
struct StrategyRow {
  std::string_view name;
  /// Waits for the other towers, whose threads call it too.
  std::unique_ptr<UpdateStrategy> (*make)(const TowerContext& context,
                                          const StrategySettings& settings);
  /// The memory on each of `towers` towers with these segments in their flat regions, before the
  /// strategy is made.
  std::vector<StrategyMemory> (*memory)(std::span<const OptimizerSegment> segments, int towers,
                                        const StrategySettings& settings);
  /// The default reduction of gradients, as in tf_cnn_benchmarks. None: the strategy does not
  /// combine them.
  std::optional<GradientReduction> reduction;
};
std::span<const StrategyRow> all_strategies();

/// Throws UsageError, which lists the accepted names, for an unknown name.
const StrategyRow& find_strategy(std::string_view name);

}  // namespace bench
