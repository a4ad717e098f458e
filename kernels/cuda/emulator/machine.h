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

#include "kernels/cuda/emulator/memory.h"
#include "kernels/cuda/emulator/random.h"
#include "kernels/cuda/emulator/runtime.h"

namespace bench::cuda::emulator {

/// Something the device does without a break.
struct Task {
  std::string name;
  std::function<void()> body;
  /// Asked again and again, while other work goes on, until it says that the body can be run; may
  /// be empty. It touches no memory of the device.
  std::function<bool()> ready = {};
};

/// Tasks, each after some of those before it.
struct TaskGraph {
  struct Node {
    Task task;
    std::vector<std::size_t> after;
    /// Those that come after it.
    std::vector<std::size_t> followers;
    /// Of the stream that it was recorded on.
    int priority = 0;
  };
  std::vector<Node> nodes;
};

/// What a stream was given until some moment.
struct Mark {
  std::shared_ptr<CUstream_st> stream;
  std::uint64_t count = 0;
  [[nodiscard]] bool reached() const;
};

/// One thing in a stream's queue: a task, the replay of a graph, or, without tasks, only a wait.
struct Operation {
  std::shared_ptr<const TaskGraph> work = nullptr;
  std::vector<Mark> waits = {};
  /// When it ended; may be null.
  std::shared_ptr<std::chrono::steady_clock::time_point> moment = nullptr;
  // While it is the first in its queue: tasks that can run, and how many others each waits for.
  bool begun = false;
  std::vector<std::size_t> ready = {};
  std::vector<std::size_t> missing = {};
  std::size_t done = 0;
};

/// What came of looking for a task to run.
enum class Progress : std::uint8_t {
  ran,
  /// There are only tasks that are not ready.
  held_up,
  nothing,
};

/// A graph that is being recorded.
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
  /// Whether it keeps order with the null stream.
  bool blocking = false;
  /// Its rank; smaller ones go first.
  int priority = 0;
  std::deque<bench::cuda::emulator::Operation> queue;
  std::uint64_t enqueued = 0;
  std::uint64_t finished = 0;
  /// The one it takes part in; `tail` is what its next task comes after.
  std::shared_ptr<bench::cuda::emulator::Capture> capture;
  std::vector<std::size_t> tail;
};

struct CUevent_st {
  bool timed = true;
  /// Its last recording; without a stream before the first one.
  bench::cuda::emulator::Mark mark;
  std::shared_ptr<std::chrono::steady_clock::time_point> moment;
  /// The same when that was in a capture.
  std::shared_ptr<bench::cuda::emulator::Capture> capture;
  std::vector<std::size_t> tail;
};

struct CUgraph_st {
  std::shared_ptr<const bench::cuda::emulator::TaskGraph> tasks;
};

struct CUgraphExec_st {
  std::shared_ptr<const bench::cuda::emulator::TaskGraph> tasks;
  /// A graph does not run beside itself.
  bench::cuda::emulator::Mark last;
};

namespace bench::cuda::emulator {

/// This thread's.
int current_device();

/// Everything that the runtime knows; used under its lock. Tasks run on the thread that waits.
class Machine {
 public:
  /// There is one, whatever the number of devices.
  static Machine& get();

  std::mutex& lock() { return lock_; }
  /// Whether this thread runs a task, which must not call the runtime.
  static bool runs_task();

  DeviceMemory& memory() { return memory_; }
  [[nodiscard]] const DeviceMemory& memory() const { return memory_; }
  PinnedMemory& pinned() { return pinned_; }
  [[nodiscard]] Owner owner_of(const void* address, std::size_t bytes) const;

  void set_schedule(std::uint64_t seed);
  [[nodiscard]] bool failed() const { return !failure_.empty(); }
  [[nodiscard]] const std::string& failure() const { return failure_; }
  void reset();
  /// Nobody but tasks may touch the device's memory.
  void close_memory() { memory_.close(); }
  [[nodiscard]] const std::string& running_task() const { return running_; }

  /// Whether a device may touch what that one allocated: its own, or a peer's that it was allowed.
  [[nodiscard]] bool may_reach(int device, int peer) const {
    return device == peer || peers.contains({device, peer});
  }
  /// What set_peer_access() said, and pairs of a device and the peer that it was allowed.
  bool peers_possible = true;
  std::set<std::pair<int, int>> peers;

  // Handles; null for one that is none, or not any more.
  cudaStream_t make_stream(bool blocking);
  std::shared_ptr<CUstream_st> stream(cudaStream_t handle) const;
  bool destroy_stream(cudaStream_t handle);
  std::vector<std::unique_ptr<CUevent_st>> events;
  std::vector<std::unique_ptr<CUgraph_st>> graphs;
  std::vector<std::unique_ptr<CUgraphExec_st>> execs;

  /// Into a stream's queue, or into the graph it captures; by the schedule some tasks run.
  cudaError_t enqueue(cudaStream_t handle, Task task);
  cudaError_t enqueue(const std::shared_ptr<CUstream_st>& stream, Operation operation);
  static Mark mark_of(const std::shared_ptr<CUstream_st>& stream) {
    return {.stream = stream, .count = stream->enqueued};
  }
  /// Runs tasks until the mark is reached, or the device has failed.
  cudaError_t wait(const Mark& mark);
  /// For all streams of the thread's device.
  cudaError_t wait_for_device();
  /// Runs some tasks and says whether the mark is reached.
  cudaError_t query(const Mark& mark);

  // Captures.
  cudaError_t begin_capture(cudaStream_t handle, cudaStreamCaptureMode mode);
  cudaError_t end_capture(cudaStream_t handle, cudaGraph_t* graph);
  cudaError_t record(CUevent_st& event, cudaStream_t handle);
  cudaError_t wait_for_event(cudaStream_t handle, const CUevent_st& event);
  /// Refuses a call that waits or allocates while this thread captures, and spoils the capture.
  cudaError_t refuse_in_capture(const char* call);

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
  /// The first one is the null stream.
  std::vector<std::shared_ptr<CUstream_st>> streams_;
  /// Destroyed ones that have work left.
  std::vector<std::shared_ptr<CUstream_st>> leaving_;
  std::vector<std::shared_ptr<Capture>> captures_;

  Machine();
};

/// Says why a call is refused: cudaGetErrorString adds it for this thread.
cudaError_t refused(cudaError_t status, std::string detail);

enum class Call : std::uint8_t {
  /// Fails once the device has failed.
  work,
  /// Done all the same, since somebody cleans up.
  cleanup,
};

/// Makes a call of the runtime: under its lock, with the last error of the thread set.
cudaError_t call(Call kind, const std::function<cudaError_t(Machine&)>& body);

}  // namespace bench::cuda::emulator
