#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "variable_mgmt/strategies/strategy.h"
#include "variable_mgmt/towers/tower_threads.h"

namespace bench {

/// A tower and its update strategy, which is null if the tower only infers.
struct TowerWithUpdate {
  std::unique_ptr<Tower> tower;
  std::unique_ptr<UpdateStrategy> update;
};

/// The towers of a run and the state that they share. All have the same network, each on its own
/// device.
class Towers {
 public:
  /// Calls `make` for every tower concurrently, on its thread. `sums` says how the towers add
  /// gradients, if they do. `world` connects the other processes; null for a single process. After
  /// a failed call of make or of run(), the towers can only be read.
  using Make = std::function<TowerWithUpdate(int number, TowerCommunicator& communicator)>;
  Towers(TowerThreads& threads, const Make& make, const SumSettings& sums = {},
         World* world = nullptr);
  ~Towers();
  Towers(const Towers&) = delete;
  Towers& operator=(const Towers&) = delete;

  [[nodiscard]] int size() const { return static_cast<int>(members_.size()); }
  /// Use it on the tower's thread; the first tower's thread is the caller's.
  [[nodiscard]] Tower& operator[](int number) { return *member(number).tower; }
  [[nodiscard]] Tower& first() { return (*this)[0]; }
  /// Null if the run only infers.
  [[nodiscard]] UpdateStrategy* update(int number) { return member(number).update.get(); }

  /// Calls part(number) for every tower concurrently, on its thread, and waits for all. Throws as
  /// TowerThreads::run does.
  void run(const std::function<void(int number)>& part);

 private:
  /// Destroys the towers on their threads.
  void clear() noexcept;
  TowerWithUpdate& member(int number) { return members_[static_cast<std::size_t>(number)]; }

  TowerThreads& threads_;
  TowerCommunicator communicator_;
  std::vector<TowerWithUpdate> members_;
};

}  // namespace bench
