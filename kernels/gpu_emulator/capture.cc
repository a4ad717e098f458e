// Stream capture: the work enqueued on a stream becomes a graph.

#include <algorithm>
#include <utility>

#include "kernels/gpu_emulator/machine.h"
#include "models/base/errors.h"

namespace bench::cuda::emulator {
namespace {

void join_tails(std::vector<std::size_t>& tail, const std::vector<std::size_t>& other) {
  for (const std::size_t node : other) {
    if (std::find(tail.begin(), tail.end(), node) == tail.end()) {
      tail.push_back(node);
    }
  }
}

/// True if every node precedes, or is in, `tail`.
bool all_joined(const TaskGraph& graph, std::vector<std::size_t> tail) {
  std::vector<bool> reached(graph.nodes.size());
  std::size_t count = 0;
  while (!tail.empty()) {
    const std::size_t node = tail.back();
    tail.pop_back();
    if (!reached[node]) {
      reached[node] = true;
      ++count;
      tail.insert(tail.end(), graph.nodes[node].after.begin(), graph.nodes[node].after.end());
    }
  }
  return count == graph.nodes.size();
}

}  // namespace

cudaError_t Machine::begin_capture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  const std::shared_ptr<CUstream_st> stream = this->stream(handle);
  if (stream == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  if (handle == nullptr) {
    return refused(cudaErrorStreamCaptureUnsupported, "the null stream cannot capture");
  }
  if (stream->capture != nullptr) {
    return refused(cudaErrorIllegalState, "the stream is already capturing");
  }
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = handle;
  stream->capture->mode = mode;
  stream->capture->thread = std::this_thread::get_id();
  stream->tail.clear();
  captures_.push_back(stream->capture);
  return cudaSuccess;
}

void Machine::leave_capture(const std::shared_ptr<Capture>& capture) {
  // It may be one of the references below.
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const std::shared_ptr<Capture> over = capture;
  for (const std::shared_ptr<CUstream_st>& stream : streams_) {
    if (stream->capture == over) {
      stream->capture = nullptr;
      stream->tail.clear();
    }
  }
  std::erase(captures_, over);
}

cudaError_t Machine::end_capture(cudaStream_t handle, cudaGraph_t* graph) {
  *graph = nullptr;
  const std::shared_ptr<CUstream_st> stream = this->stream(handle);
  if (stream == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr) {
    return refused(cudaErrorIllegalState, "the stream is not capturing");
  }
  if (capture->origin != handle) {
    capture->invalidated = true;
    return refused(cudaErrorStreamCaptureUnmatched, "another stream began the capture");
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id()) {
    return cudaErrorStreamCaptureWrongThread;
  }
  const bool joined = all_joined(*capture->graph, stream->tail);
  leave_capture(capture);
  if (capture->invalidated) {
    return cudaErrorStreamCaptureInvalidated;
  }
  if (!joined) {
    return refused(cudaErrorStreamCaptureUnjoined,
                   "the stream did not wait for an event after all work of another stream");
  }
  graphs.push_back(std::make_unique<CUgraph_st>());
  graphs.back()->tasks = capture->graph;
  *graph = graphs.back().get();
  return cudaSuccess;
}

cudaError_t Machine::capture_task(CUstream_st& stream, Task task) {
  Capture& capture = *stream.capture;
  if (capture.invalidated) {
    return cudaErrorStreamCaptureInvalidated;
  }
  std::vector<TaskGraph::Node>& nodes = capture.graph->nodes;
  const std::size_t number = nodes.size();
  for (const std::size_t before : stream.tail) {
    nodes[before].followers.push_back(number);
  }
  nodes.push_back({.task = std::move(task),
                   .after = stream.tail,
                   .followers = {},
                   .priority = stream.priority});
  stream.tail = {number};
  return cudaSuccess;
}

cudaError_t Machine::record(CUevent_st& event, cudaStream_t handle) {
  const std::shared_ptr<CUstream_st> stream = this->stream(handle);
  if (stream == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  if (stream->capture != nullptr) {
    if (stream->capture->invalidated) {
      return cudaErrorStreamCaptureInvalidated;
    }
    event.mark = {};
    event.moment = nullptr;
    event.capture = stream->capture;
    event.tail = stream->tail;
    return cudaSuccess;
  }
  // A new object: a caller may still wait for the last recording.
  auto moment = std::make_shared<std::chrono::steady_clock::time_point>();
  const Mark mark = {.stream = stream, .count = stream->enqueued + 1};
  const cudaError_t status = enqueue(stream, Operation{.moment = moment});
  if (status == cudaSuccess) {
    event.mark = mark;
    event.moment = std::move(moment);
    event.capture = nullptr;
  }
  return status;
}

cudaError_t Machine::wait_for_event(cudaStream_t handle, const CUevent_st& event) {
  const std::shared_ptr<CUstream_st> stream = this->stream(handle);
  if (stream == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  if (event.capture == nullptr) {
    if (stream->capture != nullptr) {
      stream->capture->invalidated = true;
      return refused(cudaErrorStreamCaptureIsolation, "the event was recorded outside the capture");
    }
    if (event.mark.stream == nullptr) {
      return cudaSuccess;  // An event that was never recorded blocks nothing.
    }
    return enqueue(stream, Operation{.waits = {event.mark}});
  }
  if (std::find(captures_.begin(), captures_.end(), event.capture) == captures_.end()) {
    return refused(cudaErrorCapturedEvent, "the event was recorded in a capture that has ended");
  }
  if (event.capture->invalidated) {
    return cudaErrorStreamCaptureInvalidated;
  }
  if (handle == nullptr) {
    event.capture->invalidated = true;
    return refused(cudaErrorStreamCaptureImplicit, "the null stream cannot join a capture");
  }
  if (stream->capture == nullptr) {
    stream->capture = event.capture;
    stream->tail = event.tail;
  } else if (stream->capture != event.capture) {
    stream->capture->invalidated = true;
    event.capture->invalidated = true;
    return refused(cudaErrorStreamCaptureMerge, "the event belongs to another capture");
  } else {
    join_tails(stream->tail, event.tail);
  }
  return cudaSuccess;
}

cudaError_t Machine::refuse_in_capture(const char* call) {
  for (const std::shared_ptr<Capture>& capture : captures_) {
    const bool own = capture->thread == std::this_thread::get_id();
    if (capture->mode == cudaStreamCaptureModeGlobal ||
        (capture->mode == cudaStreamCaptureModeThreadLocal && own)) {
      capture->invalidated = true;
      return refused(cudaErrorStreamCaptureUnsupported,
                     fmt::format("{} is not allowed inside a capture", call));
    }
  }
  return cudaSuccess;
}

cudaError_t Machine::refuse_while_capturing(const char* call) {
  if (captures_.empty()) {
    return cudaSuccess;
  }
  for (const std::shared_ptr<Capture>& capture : captures_) {
    capture->invalidated = true;
  }
  return refused(cudaErrorStreamCaptureUnsupported,
                 fmt::format("{} is not allowed while a stream is capturing", call));
}

}  // namespace bench::cuda::emulator
