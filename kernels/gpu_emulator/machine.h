#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/gpu_emulator/memory.h"
#include "kernels/gpu_emulator/random.h"
#include "kernels/gpu_emulator/runtime.h"

namespace bench::cuda::emulator {

/// A unit of device work that runs without interruption.
struct Task {
  std::string name;
  std::function<void()> body;
  /// Polled, while other work continues, until it returns true: the body can then run. May be
  /// empty. It accesses no device memory.
  std::function<bool()> ready = {};
};

/// Tasks, each of which follows some of the tasks before it.
struct TaskGraph {
  struct Node {
    Task task;
    std::vector<std::size_t> after;
    /// The nodes that come after this one.
    std::vector<std::size_t> followers;
    /// The priority of the stream that it was recorded on.
    int priority = 0;
  };
  std::vector<Node> nodes;
};

/// The work that a stream had received at some moment.
struct Mark {
  std::shared_ptr<CUstream_st> stream;
  std::uint64_t count = 0;
  [[nodiscard]] bool reached() const;
};

/// One entry in a stream's queue: a task, a graph launch, or, without tasks, only a wait.
struct Operation {
  std::shared_ptr<const TaskGraph> work = nullptr;
  std::vector<Mark> waits = {};
  /// The end time; may be null.
  std::shared_ptr<std::chrono::steady_clock::time_point> moment = nullptr;
  // For the first operation in its queue: the tasks that can run, and the number of others that
  // each task waits for.
  bool begun = false;
  std::vector<std::size_t> ready = {};
  std::vector<std::size_t> missing = {};
  std::size_t done = 0;
};

/// The result of looking for a task to run.
enum class Progress : std::uint8_t {
  ran,
  /// The only tasks are not ready.
  held_up,
  nothing,
};

/// A graph during recording.
struct Capture {
  std::shared_ptr<TaskGraph> graph = std::make_shared<TaskGraph>();
  cudaStream_t origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  bool invalidated = false;
};

}  // namespace bench::cuda::emulator

struct CUstream_st {
  int device = 0;
  /// True if it synchronizes with the null stream.
  bool blocking = false;
  /// Its priority; smaller values go first.
  int priority = 0;
  std::deque<bench::cuda::emulator::Operation> queue;
  std::uint64_t enqueued = 0;
  std::uint64_t finished = 0;
  /// The capture it takes part in; its next task comes after `tail`.
  std::shared_ptr<bench::cuda::emulator::Capture> capture;
  std::vector<std::size_t> tail;
};

struct CUevent_st {
  bool timed = true;
  /// Its last recording; has no stream before the first recording.
  bench::cuda::emulator::Mark mark;
  std::shared_ptr<std::chrono::steady_clock::time_point> moment;
  /// The capture that contains the last recording, if any.
  std::shared_ptr<bench::cuda::emulator::Capture> capture;
  std::vector<std::size_t> tail;
};

struct CUgraph_st {
  std::shared_ptr<const bench::cuda::emulator::TaskGraph> tasks;
};

struct CUgraphExec_st {
  std::shared_ptr<const bench::cuda::emulator::TaskGraph> tasks;
  /// A graph does not run concurrently with itself.
  bench::cuda::emulator::Mark last;
};

namespace bench::cuda::emulator {

/// This thread's current device.
int current_device();

/// The runtime's state; used under its lock. Tasks run on the thread that waits.
class Machine {
 public:
  /// There is one machine, whatever the number of devices.
  static Machine& get();

  std::mutex& lock() { return lock_; }
  /// True if this thread runs a task, which must not call the runtime.
  static bool runs_task();

  DeviceMemory& memory() { return memory_; }
  [[nodiscard]] const DeviceMemory& memory() const { return memory_; }
  PinnedMemory& pinned() { return pinned_; }
  [[nodiscard]] Owner owner_of(const void* address, std::size_t bytes) const;

  void set_schedule(std::uint64_t seed);
  [[nodiscard]] bool failed() const { return !failure_.empty(); }
  [[nodiscard]] const std::string& failure() const { return failure_; }
  void reset();
  /// Only tasks may access device memory.
  void close_memory() { memory_.close(); }
  [[nodiscard]] const std::string& running_task() const { return running_; }

  /// True if `device` may access memory of `peer`: the same device, or a peer with access enabled.
  [[nodiscard]] bool may_reach(int device, int peer) const {
    return device == peer || peers.contains({device, peer});
  }
  /// The setting of set_peer_access(), and pairs of a device and the peer that it may access.
  bool peers_possible = true;
  std::set<std::pair<int, int>> peers;

  // Handles. The result is null for a handle that is not valid, or no longer valid.
  cudaStream_t make_stream(bool blocking);
  std::shared_ptr<CUstream_st> stream(cudaStream_t handle) const;
  bool destroy_stream(cudaStream_t handle);
  std::vector<std::unique_ptr<CUevent_st>> events;
  std::vector<std::unique_ptr<CUgraph_st>> graphs;
  std::vector<std::unique_ptr<CUgraphExec_st>> execs;

  /// Adds a task to a stream's queue, or to the graph that it captures; the schedule may then run
  /// some tasks.
  cudaError_t enqueue(cudaStream_t handle, Task task);
  cudaError_t enqueue(const std::shared_ptr<CUstream_st>& stream, Operation operation);
  static Mark mark_of(const std::shared_ptr<CUstream_st>& stream) {
    return {.stream = stream, .count = stream->enqueued};
  }
  /// Runs tasks until the mark is reached, or the device has failed.
  cudaError_t wait(const Mark& mark);
  /// Waits for all streams of the thread's device.
  cudaError_t wait_for_device();
  /// Runs some tasks and returns whether the mark is reached.
  cudaError_t query(const Mark& mark);

  // Captures.
  cudaError_t begin_capture(cudaStream_t handle, cudaStreamCaptureMode mode);
  cudaError_t end_capture(cudaStream_t handle, cudaGraph_t* graph);
  cudaError_t record(CUevent_st& event, cudaStream_t handle);
  cudaError_t wait_for_event(cudaStream_t handle, const CUevent_st& event);
  /// Refuses a call that waits or allocates while this thread captures, and invalidates the
  /// capture.
  cudaError_t refuse_in_capture(const char* call);
  /// Refuses a call that waits for all streams while any thread captures one of them, and
  /// invalidates the captures.
  cudaError_t refuse_while_capturing(const char* call);

 private:
  static std::shared_ptr<const TaskGraph> graph_of(Task task);
  cudaError_t capture_task(CUstream_st& stream, Task task);
  void leave_capture(const std::shared_ptr<Capture>& capture);

  void settle();
  static void begin(Operation& operation);
  Progress run_some(std::uint64_t count);
  Progress run_any();
  Progress run_needed(const Mark& mark);
  Progress run(CUstream_st& stream, std::size_t ready);
  void let_others_in();
  void fail(std::string message);

  std::mutex lock_;
  DeviceMemory memory_;
  PinnedMemory pinned_;
  std::uint64_t seed_ = 0;
  Random random_{0};
  std::string failure_;
  std::string running_;
  /// The first stream is the null stream.
  std::vector<std::shared_ptr<CUstream_st>> streams_;
  /// Destroyed streams with remaining work.
  std::vector<std::shared_ptr<CUstream_st>> leaving_;
  std::vector<std::shared_ptr<Capture>> captures_;

  Machine();
};

/// Sets the reason of a refusal: cudaGetErrorString adds it for this thread.
cudaError_t refused(cudaError_t status, std::string detail);

enum class Call : std::uint8_t {
  /// Fails once the device has failed.
  work,
  /// Runs even then, since the caller cleans up.
  cleanup,
};

/// Runs the body of a runtime call under the lock, and records the thread's last error.
cudaError_t call(Call kind, const std::function<cudaError_t(Machine&)>& body);

}  // namespace bench::cuda::emulator
