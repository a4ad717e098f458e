#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "variable_mgmt/strategy.h"
#include "variable_mgmt/tower_threads.h"

namespace bench {

/// A tower and what updates its variables; null for one that only infers.
struct TowerWithUpdate {
  std::unique_ptr<Tower> tower;
  std::unique_ptr<UpdateStrategy> update;
};

/// The towers of a run, of the same network each on a device of its own, and where they meet.
class Towers {
 public:
  /// Calls make(number, meeting) for every tower on its thread, all at once; they add gradients as
  /// `sums` says, where they do. Once a call of make or of run() fails, the meeting is
  /// over and the towers are good for nothing but being read.
  using Make = std::function<TowerWithUpdate(int number, TowerMeeting& meeting)>;
  Towers(TowerThreads& threads, const Make& make, const SumSettings& sums = {});
  ~Towers();
  Towers(const Towers&) = delete;
  Towers& operator=(const Towers&) = delete;

  [[nodiscard]] int size() const { return static_cast<int>(members_.size()); }
  /// To be used on its thread; the first tower's is the caller's.
  [[nodiscard]] Tower& operator[](int number) { return *member(number).tower; }
  [[nodiscard]] Tower& first() { return (*this)[0]; }
  /// Null for a run that only infers.
  [[nodiscard]] UpdateStrategy* update(int number) { return member(number).update.get(); }

  /// Calls part(number) for every tower on its thread, all at once, and waits for all; throws as
  /// TowerThreads::run does.
  void run(const std::function<void(int number)>& part);

 private:
  /// On their threads.
  void clear() noexcept;
  TowerWithUpdate& member(int number) { return members_[static_cast<std::size_t>(number)]; }

  TowerThreads& threads_;
  TowerMeeting meeting_;
  std::vector<TowerWithUpdate> members_;
};

}  // namespace bench
