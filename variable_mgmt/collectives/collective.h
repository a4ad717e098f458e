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

/// A buffer view: contiguous f32, f64, f16 or bf16 elements in the memory of a member's device. All
/// members have the same number of elements, which become the sum over all members.
struct BufferView {
  void* data = nullptr;
  std::size_t elements = 0;
  DType dtype = DType::f32;
  /// The view's number within a step, the same on all members. Algorithms that choose members per
  /// tensor rotate by it. It does not affect the bits of the sum.
  std::size_t index = 0;
};

/// One tower's member of a collective, used only by the host thread that uses the device.
class CollectiveMember {
 public:
  /// Identifies an all-reduce that a member started.
  using Handle = std::uint64_t;

  CollectiveMember() = default;
  CollectiveMember(const CollectiveMember&) = delete;
  CollectiveMember& operator=(const CollectiveMember&) = delete;
  /// Leaving before everything is done cancels the others. Returns once nothing uses the buffer
  /// views.
  virtual ~CollectiveMember() = default;

  /// Begins to add a buffer view, ordered after everything enqueued on the member's stream so far.
  /// Also does what is possible for earlier ones. Does not wait for other members. All members must
  /// start the same views in the same order. Until the sum is done, nothing else may access the
  /// memory, on the stream or elsewhere. Throws InternalError, and cancels the others, if the
  /// number, type or index of the elements differs between members. Throws Cancelled.
  virtual Handle start(const BufferView& view) = 0;
  /// Works until the sum is done. Work enqueued on the member's stream after that sees the sum. The
  /// host sees it too if it shares the device's memory. May be called repeatedly for one handle. If
  /// the patience ends first, throws DeviceError, which lists the missing members, and cancels the
  /// others. Throws Cancelled at most 100 ms after another member's failure.
  virtual void wait(Handle handle, const Patience& patience) = 0;

  /// True if the device itself can wait for the sums. Then join() can replace wait(), and all
  /// members can record and replay what is enqueued between start() and join().
  [[nodiscard]] virtual bool can_join() const { return false; }
  /// Orders later work on the member's stream after the sums of everything started so far. Their
  /// handles become invalid. Does not wait. Throws Cancelled.
  virtual void join() { throw InternalError("all-reduce: the device cannot wait for sums"); }
  /// Waits until everything enqueued on the member's stream is done. Call it after join() or a
  /// replay, equally often on all members. Throws as wait() does.
  virtual void wait_for_stream(const Patience& /*patience*/) {
    throw InternalError("all-reduce: the device cannot wait for sums");
  }
  /// Ends the device's waits, now and in all later work, after the member has failed elsewhere.
  /// Call it from the member's thread.
  virtual void abandon() noexcept {}
};

/// A communicator that adds the gradients of this process's towers and, with `remote`, of others.
/// The sums are the same bits on every member and in every run. Additions of f16 and bf16 are done
/// in f32, of f64 in f64, of f32 in f32.
class Collective {
 public:
  Collective() = default;
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;
  virtual ~Collective() = default;
  [[nodiscard]] virtual int members() const = 0;
  /// Returns the member of tower `rank`, for its host thread; call it once per rank. The
  /// collective, the backend and the stream must outlive it. Does not wait.
  virtual std::unique_ptr<CollectiveMember> join(int rank, Backend& backend, Stream& stream) = 0;
  /// Marks a member as failed: from now on, every other member's calls throw Cancelled.
  /// The first failure counts. From any thread; does not wait.
  virtual void cancel(int rank, const std::string& reason) noexcept = 0;
  /// The first failure, for example "tower 1: no memory"; empty without a failure. From any thread.
  [[nodiscard]] virtual std::string failure() const = 0;
};

class RemoteMember;

struct CollectiveOptions {
  /// The members' names by rank: "tower 0".
  std::vector<std::string> names;
  /// Algorithms by size. Empty: shm for all.
  std::vector<AllReduceRange> spec = {};
  /// The ranks in ring order; empty: 0, 1, 2, ...
  std::vector<int> ring_order = {};
  /// Adds the sums of other processes, with a different schedule instead of `spec`. Null for one
  /// process.
  std::shared_ptr<RemoteMember> remote = {};
};

/// Makes members that work in their own calls, with the threads of their backends. If the host
/// shares the device's memory, they add in place. Otherwise they copy through the host's memory, on
/// the members' streams. Throws UsageError if the spec has no algorithm for that many members of
/// one host.
std::unique_ptr<Collective> make_host_collective(CollectiveOptions options);

}  // namespace bench
