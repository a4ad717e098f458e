#include "kernels/gpu_emulator/machine.h"

#include <algorithm>
#include <utility>

#include "kernels/gpu_emulator/faults.h"
#include "models/base/errors.h"

namespace bench::cuda::emulator {
namespace {

constinit thread_local bool task_of_thread = false;

/// Marks this thread as running a task.
class RunningTask {
 public:
  RunningTask() { task_of_thread = true; }
  RunningTask(const RunningTask&) = delete;
  RunningTask& operator=(const RunningTask&) = delete;
  ~RunningTask() { task_of_thread = false; }
};

}  // namespace

bool Mark::reached() const { return stream == nullptr || stream->finished >= count; }

Machine::Machine() : streams_{std::make_shared<CUstream_st>()} { watch_faults(*this); }

Machine& Machine::get() {
  // Never destroyed: handles may be freed during program exit.
  static Machine& machine = *new Machine;
  return machine;
}

bool Machine::runs_task() { return task_of_thread; }

Owner Machine::owner_of(const void* address, std::size_t bytes) const {
  if (memory_.in_arena(address)) {
    return memory_.holds(address, bytes) ? Owner::device : Owner::nobody;
  }
  return pinned_.holds(address, bytes) ? Owner::pinned : Owner::host;
}

void Machine::set_schedule(std::uint64_t seed) {
  seed_ = seed;
  random_ = Random(seed);
}

void Machine::reset() {
  fail("");
  while (!captures_.empty()) {
    leave_capture(captures_.back());
  }
}

void Machine::fail(std::string message) {
  failure_ = std::move(message);
  for (const auto* const streams : {&streams_, &leaving_}) {
    for (const std::shared_ptr<CUstream_st>& stream : *streams) {
      stream->queue.clear();
      stream->finished = stream->enqueued;
    }
  }
  leaving_.clear();
}

cudaStream_t Machine::make_stream(bool blocking) {
  streams_.push_back(std::make_shared<CUstream_st>());
  streams_.back()->device = current_device();
  streams_.back()->blocking = blocking;
  return streams_.back().get();
}

std::shared_ptr<CUstream_st> Machine::stream(cudaStream_t handle) const {
  if (handle == nullptr) {
    return streams_.front();
  }
  const auto found = std::find_if(
      streams_.begin() + 1, streams_.end(),
      [&](const std::shared_ptr<CUstream_st>& other) { return other.get() == handle; });
  return found == streams_.end() ? nullptr : *found;
}

bool Machine::destroy_stream(cudaStream_t handle) {
  const std::shared_ptr<CUstream_st> stream = this->stream(handle);
  if (stream == nullptr || handle == nullptr) {
    return false;
  }
  if (stream->capture != nullptr) {
    stream->capture->invalidated = true;
    if (stream->capture->origin == handle) {
      leave_capture(stream->capture);
    }
  }
  std::erase(streams_, stream);
  if (!stream->queue.empty()) {
    leaving_.push_back(stream);
  }
  return true;
}

cudaError_t Machine::enqueue(cudaStream_t handle, Task task) {
  const std::shared_ptr<CUstream_st> stream = this->stream(handle);
  if (stream == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  if (stream->capture != nullptr) {
    return capture_task(*stream, std::move(task));
  }
  auto graph = std::make_shared<TaskGraph>();
  graph->nodes.push_back({.task = std::move(task), .after = {}, .followers = {}});
  return enqueue(stream, Operation{.work = std::move(graph)});
}

cudaError_t Machine::enqueue(const std::shared_ptr<CUstream_st>& stream, Operation operation) {
  const std::shared_ptr<CUstream_st>& null_stream = streams_.front();
  if (stream->blocking) {
    operation.waits.push_back(mark_of(null_stream));
  } else if (stream == null_stream) {
    for (const std::shared_ptr<CUstream_st>& other : streams_) {
      if (other->blocking && other->capture != nullptr) {
        other->capture->invalidated = true;
        return refused(cudaErrorStreamCaptureImplicit,
                       "the null stream would wait for a blocking stream that is capturing");
      }
      if (other->blocking) {
        operation.waits.push_back(mark_of(other));
      }
    }
  }
  stream->queue.push_back(std::move(operation));
  ++stream->enqueued;
  if (seed_ == 1) {
    while (run_any() == Progress::ran) {
    }
  } else if (seed_ > 1 && random_.below(3) == 0) {
    run_some(random_.below(4));
  }
  return failed() ? cudaErrorLaunchFailure : cudaSuccess;
}

cudaError_t Machine::wait(const Mark& mark) {
  const bool only_needed = seed_ < 2 || random_.below(2) == 0;
  for (settle(); !failed() && !mark.reached(); settle()) {
    Progress progress = only_needed ? run_needed(mark) : run_any();
    if (progress == Progress::held_up && only_needed) {
      progress = run_any();  // The tasks it waits for may be in other streams.
    }
    check(progress != Progress::nothing,
          "the emulated GPU: work waits for something that was never enqueued");
    if (progress == Progress::held_up) {
      let_others_in();
    }
  }
  return failed() ? cudaErrorLaunchFailure : cudaSuccess;
}

cudaError_t Machine::wait_for_device() {
  std::vector<Mark> marks;
  for (const auto* const streams : {&streams_, &leaving_}) {
    for (const std::shared_ptr<CUstream_st>& stream : *streams) {
      if (stream->device == current_device() || stream == streams_.front()) {
        marks.push_back(mark_of(stream));
      }
    }
  }
  cudaError_t status = cudaSuccess;
  for (const Mark& mark : marks) {
    status = wait(mark);
  }
  return status;
}

cudaError_t Machine::query(const Mark& mark) {
  settle();
  Progress progress = Progress::nothing;
  if (seed_ > 1) {
    progress = run_some(1 + random_.below(3));
  } else if (!mark.reached()) {
    progress = run_needed(mark);
  }
  if (progress == Progress::held_up) {
    let_others_in();
  }
  settle();
  if (failed()) {
    return cudaErrorLaunchFailure;
  }
  return mark.reached() ? cudaSuccess : cudaErrorNotReady;
}

void Machine::begin(Operation& operation) {
  operation.begun = true;
  if (operation.work == nullptr) {
    return;
  }
  const std::vector<TaskGraph::Node>& nodes = operation.work->nodes;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    operation.missing.push_back(nodes[node].after.size());
    if (nodes[node].after.empty()) {
      operation.ready.push_back(node);
    }
  }
}

/// Begins every operation that can begin and ends those without remaining tasks. Repeats this until
/// nothing changes: an operation in one stream may wait for the end of another stream's.
void Machine::settle() {
  for (bool changed = true; std::exchange(changed, false);) {
    for (const auto* const streams : {&streams_, &leaving_}) {
      for (const std::shared_ptr<CUstream_st>& stream : *streams) {
        while (!stream->queue.empty()) {
          Operation& first = stream->queue.front();
          if (!std::all_of(first.waits.begin(), first.waits.end(),
                           [](const Mark& mark) { return mark.reached(); })) {
            break;
          }
          if (!first.begun) {
            begin(first);
          }
          if (first.work != nullptr && first.done < first.work->nodes.size()) {
            break;
          }
          if (first.moment != nullptr) {
            *first.moment = std::chrono::steady_clock::now();
          }
          stream->queue.pop_front();
          ++stream->finished;
          changed = true;
        }
      }
    }
  }
  std::erase_if(leaving_, [](const auto& stream) { return stream->queue.empty(); });
}

Progress Machine::run_some(std::uint64_t count) {
  Progress progress = Progress::ran;
  while (count > 0 && progress == Progress::ran) {
    progress = run_any();
    --count;
  }
  return progress;
}

/// Another thread may have to enqueue the work that makes a task ready.
void Machine::let_others_in() {
  constexpr std::chrono::microseconds kLongEnough{50};
  lock_.unlock();
  std::this_thread::sleep_for(kLongEnough);
  lock_.lock();
}

/// Runs one task of any stream.
Progress Machine::run_any() {
  settle();
  struct Choice {
    CUstream_st* stream;
    std::size_t ready;
  };
  std::vector<Choice> choices;
  for (const auto* const streams : {&streams_, &leaving_}) {
    for (const std::shared_ptr<CUstream_st>& stream : *streams) {
      const std::size_t ready = stream->queue.empty() ? 0 : stream->queue.front().ready.size();
      for (std::size_t task = 0; task < ready; ++task) {
        choices.push_back({.stream = stream.get(), .ready = task});
      }
    }
  }
  Progress progress = Progress::nothing;
  while (!choices.empty() && progress != Progress::ran) {
    const auto choice =
        choices.begin() + static_cast<std::ptrdiff_t>(random_.below(choices.size()));
    progress = run(*choice->stream, choice->ready);
    choices.erase(choice);
  }
  return progress;
}

/// Runs one task that the mark needs.
Progress Machine::run_needed(const Mark& mark) {
  CUstream_st* stream = mark.stream.get();
  for (;;) {
    check(!stream->queue.empty(),
          "the emulated GPU: work waits for something that was never enqueued");
    const std::vector<Mark>& waits = stream->queue.front().waits;
    const auto unreached = std::find_if(waits.begin(), waits.end(),
                                        [](const Mark& other) { return !other.reached(); });
    if (unreached == waits.end()) {
      break;
    }
    stream = unreached->stream.get();
  }
  return run(*stream, 0);
}

Progress Machine::run(CUstream_st& stream, std::size_t ready) {
  Operation& operation = stream.queue.front();
  const auto chosen = operation.ready.begin() + static_cast<std::ptrdiff_t>(ready);
  const TaskGraph::Node& node = operation.work->nodes[*chosen];
  running_ = node.task.name;
  try {
    const RunningTask running;
    if (node.task.ready && !node.task.ready()) {
      return Progress::held_up;
    }
    memory_.open();
    node.task.body();
  } catch (const std::exception& error) {
    // Our kernels name themselves.
    const std::string why = error.what();
    fail(why.find(running_) == std::string::npos ? fmt::format("{}: {}", running_, why) : why);
    return Progress::ran;
  }
  if (const std::string damage = memory_.damage(); !damage.empty()) {
    fail(fmt::format("{} {}", running_, damage));
    return Progress::ran;
  }
  operation.ready.erase(chosen);
  ++operation.done;
  for (const std::size_t follower : node.followers) {
    if (--operation.missing[follower] == 0) {
      operation.ready.push_back(follower);
    }
  }
  return Progress::ran;
}

}  // namespace bench::cuda::emulator
