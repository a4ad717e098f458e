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

/// One all-reduce, as its members see it.
struct Operation {
  /// A member's state that the others see, on a separate cache line.
  struct alignas(64) MemberState {
    /// The member's elements in host memory; set before `arrived`.
    std::byte* memory = nullptr;
    /// The number of its completed steps.
    std::atomic<std::size_t> steps = 0;
    std::atomic<bool> arrived = false;
  };

  Operation(std::uint64_t number_in_order, const BufferView& view, int members,
            std::shared_ptr<const Schedule> plan)
      : number(number_in_order),
        elements(view.elements),
        dtype(view.dtype),
        index(view.index),
        schedule(std::move(plan)),
        states(static_cast<std::size_t>(members)) {}

  const std::uint64_t number;
  const std::size_t elements;
  const DType dtype;
  const std::size_t index;
  /// Null if something else adds.
  const std::shared_ptr<const Schedule> schedule;
  std::vector<MemberState> states;
  /// The number of members whose elements have arrived, and of members that have done all their
  /// steps.
  std::atomic<int> arrived = 0;
  std::atomic<int> finished = 0;
  /// The number of members that no longer need it; belongs to `HostCommunicator`.
  int released = 0;
};

class HostCommunicator;

/// All other processes, as one more member whose rank follows those of the towers. It works on a
/// separate thread.
class RemoteMember {
 public:
  RemoteMember() = default;
  RemoteMember(const RemoteMember&) = delete;
  RemoteMember& operator=(const RemoteMember&) = delete;
  virtual ~RemoteMember() = default;
  /// Plans an all-reduce of that many elements for the towers and this member.
  [[nodiscard]] virtual Schedule plan(int towers, std::size_t elements) const = 0;
  /// Begins this member's part of an operation. Does not wait.
  virtual void begin(HostCommunicator& communicator, Operation& operation) = 0;
  /// Returns when nothing of this member uses the communicator. Call it after all towers have left.
  virtual void leave() = 0;
};

/// The state that the members of a host's collective share: progress, waits and failure.
class HostCommunicator {
 public:
  /// Without a spec, operations have no schedule, because something else adds.
  explicit HostCommunicator(CollectiveOptions options);
  ~HostCommunicator();
  HostCommunicator(const HostCommunicator&) = delete;
  HostCommunicator& operator=(const HostCommunicator&) = delete;

  /// The number of members, with the remote one.
  [[nodiscard]] int members() const { return static_cast<int>(options_.names.size()); }
  /// The number of towers.
  [[nodiscard]] int local_members() const {
    return members() - (options_.remote == nullptr ? 0 : 1);
  }
  [[nodiscard]] const std::string& name(int rank) const {
    return options_.names[static_cast<std::size_t>(rank)];
  }
  /// Returns the member's next operation. Throws InternalError if the buffer view differs from the
  /// other members'. Throws Cancelled if a member has left before entering this
  /// operation.
  Operation& enter(int rank, const BufferView& view);
  void release(Operation& operation);
  /// The member enters no more operations. Others fail if they have entered or will enter further
  /// ones.
  void leave(int rank) noexcept;

  /// Notifies all sleeping members of a change.
  void signal();
  [[nodiscard]] std::uint32_t changes() const { return changes_.load(); }
  /// Returns when there are more changes than `seen`, or at `until`.
  void sleep(std::uint32_t seen, std::chrono::steady_clock::time_point until);

  void cancel(int rank, const std::string& reason) noexcept;
  [[nodiscard]] bool failed() const { return failed_.load(); }
  [[nodiscard]] std::string failure() const;
  /// Throws Cancelled if a member has failed.
  void check_failure() const;
  /// Between these calls, a member accesses others' memory. Returns false after a failure; then the
  /// member must not access it.
  bool begin_work(int rank);
  void end_work(int rank) { working_[static_cast<std::size_t>(rank)].flag.store(false); }
  /// After a failure: returns once no member accesses others' memory, and none will.
  void wait_for_quiet() const;

 private:
  struct alignas(64) Flag {
    std::atomic<bool> flag = false;
  };
  std::shared_ptr<const Schedule> schedule_of(const BufferView& view);
  /// Requires the lock.
  void set_failure(int rank, const std::string& reason);

  const CollectiveOptions options_;
  mutable std::mutex mutex_;
  /// In order. The fastest members have entered all of them, slower ones fewer.
  std::deque<std::unique_ptr<Operation>> operations_;
  std::vector<std::uint64_t> entered_;
  std::vector<bool> left_;
  /// By size, type and index; the buffer views of a step recur.
  std::map<std::tuple<std::size_t, DType, std::size_t>, std::shared_ptr<const Schedule>> schedules_;
  std::string failure_;
  std::atomic<bool> failed_ = false;
  std::vector<Flag> working_;
  std::condition_variable changed_;
  std::atomic<std::uint32_t> changes_ = 0;
  std::atomic<int> sleepers_ = 0;
};

}  // namespace bench
