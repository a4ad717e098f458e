// The stream, event and graph calls.

#include <algorithm>
#include <chrono>
#include <memory>

#include "kernels/gpu_emulator/machine.h"

using bench::cuda::emulator::call;
using bench::cuda::emulator::Call;
using bench::cuda::emulator::Machine;
using bench::cuda::emulator::refused;
using bench::cuda::emulator::TaskGraph;

namespace {

// Smaller values go first, as on real GPUs.
constexpr int kFirstPriority = -5;
constexpr int kLastPriority = 0;

/// Finds a handle in a list of the machine's; returns the end for an invalid handle.
template <class T>
auto find(std::vector<std::unique_ptr<T>>& list, const T* handle) {
  return std::find_if(list.begin(), list.end(),
                      [&](const std::unique_ptr<T>& other) { return other.get() == handle; });
}

/// Destroys the handle's object. Null is not a valid handle.
template <class T>
cudaError_t destroy(std::vector<std::unique_ptr<T>>& list, const T* handle) {
  const auto found = find(list, handle);
  if (found == list.end()) {
    return cudaErrorInvalidResourceHandle;
  }
  list.erase(found);
  return cudaSuccess;
}

/// Calls `body` with the event if it exists.
template <class Body>
cudaError_t with_event(Machine& machine, cudaEvent_t event, const Body& body) {
  return find(machine.events, event) == machine.events.end() ? cudaErrorInvalidResourceHandle
                                                             : body(*event);
}

/// Refuses a query of, or a wait for, a stream that captures, and any by a thread that captures.
cudaError_t refuse_asking(Machine& machine, const std::shared_ptr<CUstream_st>& stream,
                          const char* name) {
  if (stream == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  if (stream->capture != nullptr) {
    stream->capture->invalidated = true;
    return refused(cudaErrorStreamCaptureUnsupported,
                   std::string(name) + " of a stream that is capturing");
  }
  return machine.refuse_in_capture(name);
}

cudaError_t refuse_asking(Machine& machine, const CUevent_st& event, const char* name) {
  if (event.capture != nullptr) {
    event.capture->invalidated = true;
    return refused(cudaErrorCapturedEvent, name);
  }
  return machine.refuse_in_capture(name);
}

}  // namespace

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call(Call::work, [&](Machine& machine) {
    if ((flags & ~cudaStreamNonBlocking) != 0) {
      return cudaErrorInvalidValue;
    }
    *stream = machine.make_stream(flags == cudaStreamDefault);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* last, int* first) {
  *last = kLastPriority;
  *first = kFirstPriority;
  return cudaSuccess;
}

// CUDA clamps the priority to the supported range.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  const cudaError_t status = cudaStreamCreateWithFlags(stream, flags);
  if (status == cudaSuccess) {
    (*stream)->priority = std::clamp(priority, kFirstPriority, kLastPriority);
  }
  return status;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return call(Call::work, [&](Machine& machine) {
    const auto found = machine.stream(stream);
    if (found == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    *priority = found->priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call(Call::cleanup, [&](Machine& machine) {
    return machine.destroy_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call(Call::work, [&](Machine& machine) {
    const auto found = machine.stream(stream);
    const cudaError_t status = refuse_asking(machine, found, "cudaStreamSynchronize");
    return status == cudaSuccess ? machine.wait(Machine::mark_of(found)) : status;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call(Call::work, [&](Machine& machine) {
    const auto found = machine.stream(stream);
    const cudaError_t status = refuse_asking(machine, found, "cudaStreamQuery");
    return status == cudaSuccess ? machine.query(Machine::mark_of(found)) : status;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return call(Call::work, [&](Machine& machine) {
    return with_event(machine, event, [&](const CUevent_st& found) {
      return flags == 0 ? machine.wait_for_event(stream, found) : cudaErrorInvalidValue;
    });
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call(Call::work, [&](Machine& machine) {
    if ((flags & ~(cudaEventBlockingSync | cudaEventDisableTiming)) != 0) {
      return cudaErrorInvalidValue;
    }
    machine.events.push_back(std::make_unique<CUevent_st>());
    *event = machine.events.back().get();
    (*event)->timed = (flags & cudaEventDisableTiming) == 0;
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call(Call::cleanup, [&](Machine& machine) { return destroy(machine.events, event); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call(Call::work, [&](Machine& machine) {
    return with_event(machine, event,
                      [&](CUevent_st& found) { return machine.record(found, stream); });
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call(Call::work, [&](Machine& machine) {
    return with_event(machine, event, [&](const CUevent_st& found) {
      const cudaError_t status = refuse_asking(machine, found, "cudaEventQuery");
      return status == cudaSuccess ? machine.query(found.mark) : status;
    });
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call(Call::work, [&](Machine& machine) {
    return with_event(machine, event, [&](const CUevent_st& found) {
      const cudaError_t status = refuse_asking(machine, found, "cudaEventSynchronize");
      return status == cudaSuccess ? machine.wait(found.mark) : status;
    });
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call(Call::work, [&](Machine& machine) {
    return with_event(machine, start, [&](const CUevent_st& first) {
      return with_event(machine, end, [&](const CUevent_st& last) {
        if (!first.timed || !last.timed || first.moment == nullptr || last.moment == nullptr) {
          return cudaErrorInvalidResourceHandle;
        }
        if (!first.mark.reached() || !last.mark.reached()) {
          return cudaErrorNotReady;
        }
        *milliseconds =
            std::chrono::duration<float, std::milli>(*last.moment - *first.moment).count();
        return cudaSuccess;
      });
    });
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call(Call::work, [&](Machine& machine) { return machine.begin_capture(stream, mode); });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call(Call::work, [&](Machine& machine) { return machine.end_capture(stream, graph); });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call(Call::cleanup, [&](Machine& machine) { return destroy(machine.graphs, graph); });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  return call(Call::work, [&](Machine& machine) {
    if (find(machine.graphs, graph) == machine.graphs.end() ||
        (flags & ~static_cast<unsigned long long>(cudaGraphInstantiateFlagUseNodePriority)) != 0) {
      return cudaErrorInvalidValue;
    }
    const auto& nodes = graph->tasks->nodes;
    if (flags == 0 && std::any_of(nodes.begin(), nodes.end(), [&](const TaskGraph::Node& node) {
          return node.priority != nodes.front().priority;
        })) {
      return refused(cudaErrorNotSupported,
                     "the graph has several priorities, but "
                     "cudaGraphInstantiateFlagUseNodePriority is not set");
    }
    machine.execs.push_back(std::make_unique<CUgraphExec_st>());
    *exec = machine.execs.back().get();
    (*exec)->tasks = graph->tasks;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call(Call::work, [&](Machine& machine) {
    const auto found = machine.stream(stream);
    if (find(machine.execs, exec) == machine.execs.end() || found == nullptr) {
      return cudaErrorInvalidValue;
    }
    if (found->capture != nullptr) {
      found->capture->invalidated = true;
      return refused(cudaErrorStreamCaptureUnsupported, "a graph was launched inside a capture");
    }
    const cudaError_t status = machine.enqueue(found, {.work = exec->tasks, .waits = {exec->last}});
    if (status == cudaSuccess) {
      exec->last = Machine::mark_of(found);
    }
    return status;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return call(Call::cleanup, [&](Machine& machine) { return destroy(machine.execs, exec); });
}
