#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "variable_mgmt/collectives/collective.h"
#include "variable_mgmt/collectives/schedule.h"

namespace bench {

/// One all-reduce, as its members see each other in it.
struct Operation {
  /// What a member shows the others, on a cache line of its own.
  struct alignas(64) Seat {
    /// Its elements, in memory of the host; from when it has arrived.
    std::byte* memory = nullptr;
    /// How many of its steps are done.
    std::atomic<std::size_t> steps = 0;
    std::atomic<bool> arrived = false;
  };

  Operation(std::uint64_t number_in_order, const Stretch& stretch, int members,
            std::shared_ptr<const Schedule> plan)
      : number(number_in_order),
        elements(stretch.elements),
        dtype(stretch.dtype),
        index(stretch.index),
        schedule(std::move(plan)),
        seats(static_cast<std::size_t>(members)) {}

  const std::uint64_t number;
  const std::size_t elements;
  const DType dtype;
  const std::size_t index;
  /// Null where something else adds.
  const std::shared_ptr<const Schedule> schedule;
  std::vector<Seat> seats;
  /// Members whose elements are there, and who have done all their steps.
  std::atomic<int> arrived = 0;
  std::atomic<int> finished = 0;
  /// Who does not need it any more; of the meeting.
  int released = 0;
};

/// What the members of a host's collective share: who is how far, who waits, and what failed.
class Meeting {
 public:
  /// Without a spec operations have no schedule: something else adds.
  explicit Meeting(CollectiveOptions options);

  [[nodiscard]] int members() const { return static_cast<int>(options_.names.size()); }
  [[nodiscard]] const std::string& name(int rank) const {
    return options_.names[static_cast<std::size_t>(rank)];
  }
  /// The member's next operation. Throws InternalError when the stretch is not the others', and
  /// CollectiveCancelled when a member has left that will not come to it.
  Operation& enter(int rank, const Stretch& stretch);
  void release(Operation& operation);
  /// The member enters no more; those who have entered or will enter further ones fail.
  void leave(int rank) noexcept;

  /// Tells everybody who sleeps that something has changed.
  void signal();
  [[nodiscard]] std::uint32_t changes() const { return changes_.load(); }
  /// Returns when there are more changes than `seen`, or at that time.
  void sleep(std::uint32_t seen, std::chrono::steady_clock::time_point until);

  void cancel(int rank, const std::string& reason) noexcept;
  [[nodiscard]] bool failed() const { return failed_.load(); }
  [[nodiscard]] std::string failure() const;
  /// Throws CollectiveCancelled when a member has failed.
  void check_failure() const;
  /// Between these calls a member touches others' memory. False, and it must not, when somebody has
  /// failed.
  bool begin_work(int rank);
  void end_work(int rank) { working_[static_cast<std::size_t>(rank)].flag.store(false); }
  /// Once somebody has failed: returns when no member touches others' memory any more, nor will.
  void wait_for_quiet() const;

 private:
  struct alignas(64) Flag {
    std::atomic<bool> flag = false;
  };
  std::shared_ptr<const Schedule> schedule_of(const Stretch& stretch);
  /// Under the lock.
  void set_failure(int rank, const std::string& reason);

  const CollectiveOptions options_;
  mutable std::mutex mutex_;
  /// In order; members at the end have entered all of them, slower ones fewer.
  std::deque<std::unique_ptr<Operation>> operations_;
  std::vector<std::uint64_t> entered_;
  std::vector<bool> left_;
  /// By size, type and index; a step's stretches come again and again.
  std::map<std::tuple<std::size_t, DType, std::size_t>, std::shared_ptr<const Schedule>> schedules_;
  std::string failure_;
  std::atomic<bool> failed_ = false;
  std::vector<Flag> working_;
  std::condition_variable changed_;
  std::atomic<std::uint32_t> changes_ = 0;
  std::atomic<int> sleepers_ = 0;
};

}  // namespace bench
