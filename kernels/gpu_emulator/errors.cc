// How calls report errors, and the messages.

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/gpu_emulator/machine.h"
#include "models/base/errors.h"

namespace bench::cuda::emulator {
namespace {

struct ErrorRow {
  cudaError_t error;
  const char* name;
  const char* words;
};

constexpr std::array kErrors = {
    ErrorRow{cudaSuccess, "cudaSuccess", "no error"},
    ErrorRow{cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    ErrorRow{cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    ErrorRow{cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    ErrorRow{cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
             "invalid configuration argument"},
    ErrorRow{cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
             "invalid copy direction for memcpy"},
    ErrorRow{cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
             "CUDA driver version is insufficient for CUDA runtime version"},
    ErrorRow{cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    ErrorRow{cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    ErrorRow{cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle",
             "invalid resource handle"},
    ErrorRow{cudaErrorIllegalState, "cudaErrorIllegalState",
             "the operation cannot be performed in the present state"},
    ErrorRow{cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    ErrorRow{cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
             "an illegal memory access was encountered"},
    ErrorRow{cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
             "peer access is already enabled"},
    ErrorRow{cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled",
             "peer access has not been enabled"},
    ErrorRow{cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
             "too many resources requested for launch"},
    ErrorRow{cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    ErrorRow{cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    ErrorRow{cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    ErrorRow{cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
             "operation not permitted when stream is capturing"},
    ErrorRow{cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
             "operation failed due to a previous error during capture"},
    ErrorRow{cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge",
             "operation would result in a merge of separate capture sequences"},
    ErrorRow{cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
             "capture was not ended in the same stream as it began"},
    ErrorRow{cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined",
             "capturing stream has unjoined work"},
    ErrorRow{cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
             "dependency created on uncaptured work in another stream"},
    ErrorRow{cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
             "operation would make the legacy stream depend on a capturing blocking stream"},
    ErrorRow{cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
             "operation not permitted on an event last recorded in a capturing stream"},
    ErrorRow{cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread",
             "attempt to terminate a thread-local capture sequence from another thread"},
    ErrorRow{cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

const ErrorRow& row_of(cudaError_t error) {
  const auto* const found = std::find_if(kErrors.begin(), kErrors.end(),
                                         [&](const ErrorRow& row) { return row.error == error; });
  return found == kErrors.end() ? kErrors.back() : *found;
}

/// The last error that a thread received.
struct Told {
  cudaError_t last = cudaSuccess;
  /// The status of the last refused call, and the reason.
  cudaError_t refused = cudaSuccess;
  std::string detail;
  /// The last result of cudaGetErrorString.
  std::string words;
};
thread_local Told told;

cudaError_t remembered(cudaError_t status) {
  if (status != cudaSuccess) {
    told.last = status;
  }
  return status;
}

}  // namespace

cudaError_t refused(cudaError_t status, std::string detail) {
  told.refused = status;
  told.detail = std::move(detail);
  return status;
}

cudaError_t call(Call kind, const std::function<cudaError_t(Machine&)>& body) {
  if (Machine::runs_task()) {
    return remembered(refused(cudaErrorNotPermitted, "work on the device called the runtime"));
  }
  Machine& machine = Machine::get();
  const std::lock_guard lock(machine.lock());
  told.refused = cudaSuccess;
  cudaError_t status = cudaErrorLaunchFailure;
  if (kind == Call::cleanup || !machine.failed()) {
    status = body(machine);
    machine.close_memory();
  }
  return remembered(machine.failed() ? cudaErrorLaunchFailure : status);
}

void set_schedule(std::uint64_t seed) {
  Machine& machine = Machine::get();
  const std::lock_guard lock(machine.lock());
  machine.set_schedule(seed);
}

void set_device_memory(std::size_t bytes) {
  Machine& machine = Machine::get();
  const std::lock_guard lock(machine.lock());
  machine.memory().set_limit(bytes);
}

void reset_device() {
  Machine& machine = Machine::get();
  const std::lock_guard lock(machine.lock());
  machine.reset();
  told = {};
}

cudaError_t enqueue(cudaStream_t stream, const char* name, std::function<void()> work) {
  return call(Call::work, [&](Machine& machine) {
    return machine.enqueue(stream, {.name = name, .body = std::move(work)});
  });
}

cudaError_t enqueue_when(std::function<bool()> ready, cudaStream_t stream, const char* name,
                         std::function<void()> work) {
  return call(Call::work, [&](Machine& machine) {
    return machine.enqueue(stream,
                           {.name = name, .body = std::move(work), .ready = std::move(ready)});
  });
}

}  // namespace bench::cuda::emulator

using bench::cuda::emulator::Machine;

// Does not use call(): a later request for the message still needs the reason of the last refusal.
cudaError_t cudaGetLastError() {
  const cudaError_t last = std::exchange(bench::cuda::emulator::told.last, cudaSuccess);
  if (!Machine::runs_task()) {
    Machine& machine = Machine::get();
    const std::lock_guard lock(machine.lock());
    if (machine.failed()) {
      return cudaErrorLaunchFailure;
    }
  }
  return last;
}

const char* cudaGetErrorName(cudaError_t error) {
  return bench::cuda::emulator::row_of(error).name;
}

const char* cudaGetErrorString(cudaError_t error) {
  bench::cuda::emulator::Told& told = bench::cuda::emulator::told;
  told.words = bench::cuda::emulator::row_of(error).words;
  Machine& machine = Machine::get();
  if (error == cudaErrorLaunchFailure && !Machine::runs_task()) {
    const std::lock_guard lock(machine.lock());
    if (machine.failed()) {
      told.words = machine.failure();
    }
  } else if (error != cudaSuccess && error == told.refused && !told.detail.empty()) {
    told.words = fmt::format("{}: {}", told.words, told.detail);
  }
  return told.words.c_str();
}
