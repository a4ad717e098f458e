#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "models/base/errors.h"
#include "variable_mgmt/collectives/all_reduce_spec.h"

namespace bench {

/// Another member's failure, told to those who would have waited for it in vain. Its text begins
/// with that member's name.
class CollectiveCancelled : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Elements in a line in the memory of a member's device, f32, f64, f16 or bf16: of each member as
/// many, which become the sum of all members'.
struct Stretch {
  void* data = nullptr;
  std::size_t elements = 0;
  DType dtype = DType::f32;
  /// Which of a step's stretches it is, of all members the same. Algorithms with a place of their
  /// own for each tensor go round by it. No bit of the sum depends on it.
  std::size_t index = 0;
};

/// One tower's part in a collective. It is used by one host thread, the one that uses the device.
class CollectiveMember {
 public:
  /// Names an all-reduce that a member started.
  using Handle = std::uint64_t;

  CollectiveMember() = default;
  CollectiveMember(const CollectiveMember&) = delete;
  CollectiveMember& operator=(const CollectiveMember&) = delete;
  /// Leaving before everything is done cancels the others. Returns once nobody uses the stretches.
  virtual ~CollectiveMember() = default;

  /// Begins to add a stretch as it is behind everything enqueued on the member's stream so far, and
  /// does what can be done of earlier ones; does not wait for other members. All members have to
  /// start the same stretches in the same order. Until it is done nobody may touch the memory, on
  /// the stream or beside it. Throws InternalError, and cancels the others, where number, type or
  /// index of the elements are not those of the other members; CollectiveCancelled.
  virtual Handle start(const Stretch& stretch) = 0;
  /// Does what can be done now, and says whether all of it is: what is enqueued on the member's
  /// stream from now on sees the sums, and so does the host where it shares the device's memory.
  /// Does not wait. Throws CollectiveCancelled. A handle may be asked after again and again.
  virtual bool test(Handle handle) = 0;
  /// Works until test(). Throws DeviceError, and cancels the others, when the patience ends before:
  /// it names the members that are not there. Throws CollectiveCancelled at most 100 ms after
  /// another member's failure.
  virtual void wait(Handle handle, const Patience& patience) = 0;

  /// Whether the device itself can wait for the sums: then join() may take the place of wait(), and
  /// what is enqueued between start() and it may be recorded and replayed, on all members alike.
  [[nodiscard]] virtual bool can_join() const { return false; }
  /// What is enqueued on the member's stream from now on comes behind the sums of everything that
  /// was started, whose handles are over. Does not wait. Throws CollectiveCancelled.
  virtual void join() { throw InternalError("all-reduce: the device does not wait for sums"); }
  /// Waits until everything enqueued on the member's stream is done, as has to be done after join()
  /// or a replay, by all members equally often. Throws as wait() does.
  virtual void wait_for_stream(const Patience& /*patience*/) {
    throw InternalError("all-reduce: the device does not wait for sums");
  }
  /// The member has failed elsewhere: ends what its device waits for, in this and in all later
  /// work. From its thread.
  virtual void abandon() noexcept {}
};

/// Where towers of one host meet to add their gradients. The sums are the same bits on every
/// member, and each time. In f16 and bf16 each addition is done in f32, in f64 in f64, in f32 in
/// f32.
class Collective {
 public:
  Collective() = default;
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;
  virtual ~Collective() = default;
  [[nodiscard]] virtual int members() const = 0;
  /// The part of tower `rank`, for its host thread; once for each. The collective, the backend and
  /// the stream have to outlive it. Does not wait.
  virtual std::unique_ptr<CollectiveMember> join(int rank, Backend& backend, Stream& stream) = 0;
  /// The member has failed, for that reason: from now on every other member's calls throw
  /// CollectiveCancelled. The first failure counts. From any thread; does not wait.
  virtual void cancel(int rank, const std::string& reason) noexcept = 0;
  /// "tower 1: no memory": the first failure; empty while there is none. From any thread.
  [[nodiscard]] virtual std::string failure() const = 0;
};

struct CollectiveOptions {
  /// Of the members, by rank: "tower 0".
  std::vector<std::string> names;
  /// Algorithms by size. Empty: shm for all.
  std::vector<AllReduceRange> spec = {};
  /// The ranks in the order of the ring; empty: 0, 1, 2, ...
  std::vector<int> ring_order = {};
};

/// Members that work themselves, with the threads of their backends, each in its calls. Where the
/// host shares the device's memory they add in place; from and to other devices' memory they copy
/// through the host's, on the members' streams. Throws UsageError for a spec that has no algorithm
/// for so many members of one host.
std::unique_ptr<Collective> make_host_collective(CollectiveOptions options);

}  // namespace bench
