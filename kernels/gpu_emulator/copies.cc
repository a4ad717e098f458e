// The memory calls.

#include <cstring>
#include <vector>

#include "kernels/gpu_emulator/machine.h"
#include "models/base/errors.h"

using bench::cuda::emulator::call;
using bench::cuda::emulator::Call;
using bench::cuda::emulator::current_device;
using bench::cuda::emulator::Machine;
using bench::cuda::emulator::Owner;
using bench::cuda::emulator::refused;

namespace {

bool on_device(Owner owner) { return owner == Owner::device; }

/// A copy's endpoints, after the call has inspected them.
struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
  Owner owner_to;
  Owner owner_from;
};

cudaError_t check_copy(const Copy& copy, cudaMemcpyKind kind) {
  if (copy.owner_to == Owner::nobody || copy.owner_from == Owner::nobody) {
    return refused(cudaErrorInvalidValue,
                   copy.owner_to == Owner::nobody
                       ? "the target is not within one allocation of the device"
                       : "the source is not within one allocation of the device");
  }
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault &&
      (to_device != on_device(copy.owner_to) || from_device != on_device(copy.owner_from))) {
    return refused(cudaErrorInvalidValue, "the copy's kind does not match its memory");
  }
  return cudaSuccess;
}

/// True if the stream's device may access that memory.
bool is_reached(const Machine& machine, int device, const void* memory, Owner owner) {
  return !on_device(owner) || machine.may_reach(device, *machine.memory().device_of(memory));
}

/// Memory may be freed after a copy was recorded.
void check_still(const void* address, std::size_t bytes, Owner owner) {
  bench::check(Machine::get().owner_of(address, bytes) == owner,
               "the copy's memory was freed before the copy ran");
}

/// Enqueues a copy with CUDA's semantics for pageable memory: the call reads or writes it before it
/// returns.
cudaError_t enqueue_copy(Machine& machine, const Copy& copy, cudaStream_t stream,
                         const char* name) {
  const auto found = machine.stream(stream);
  if (found == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  const int device = stream == nullptr ? current_device() : found->device;
  if (!is_reached(machine, device, copy.to, copy.owner_to) ||
      !is_reached(machine, device, copy.from, copy.owner_from)) {
    return refused(cudaErrorPeerAccessNotEnabled, "the copy accesses another device's memory");
  }
  const bool staged = copy.owner_from == Owner::host;
  const bool waits = copy.owner_to == Owner::host;
  if ((staged || waits) && found->capture != nullptr) {
    found->capture->invalidated = true;
    return refused(cudaErrorStreamCaptureUnsupported,
                   "a copy inside a capture accesses host memory that is not pinned");
  }
  std::vector<std::byte> stage;
  if (staged) {
    const auto* const first = static_cast<const std::byte*>(copy.from);
    stage.assign(first, first + copy.bytes);
  }
  const cudaError_t status = machine.enqueue(
      stream, {.name = name, .body = [copy, stage = std::move(stage)] {
                 check_still(copy.to, copy.bytes, copy.owner_to);
                 if (copy.owner_from != Owner::host) {
                   check_still(copy.from, copy.bytes, copy.owner_from);
                 }
                 std::memmove(copy.to, copy.owner_from == Owner::host ? stage.data() : copy.from,
                              copy.bytes);
               }});
  return status == cudaSuccess && waits ? machine.wait(Machine::mark_of(found)) : status;
}

cudaError_t enqueue_fill(Machine& machine, void* to, int value, std::size_t bytes,
                         cudaStream_t stream, const char* name) {
  const Owner owner = machine.owner_of(to, bytes);
  if (bytes == 0) {
    return cudaSuccess;
  }
  if (owner != Owner::device && owner != Owner::pinned) {
    return refused(cudaErrorInvalidValue, "the target is not within one allocation");
  }
  return machine.enqueue(stream, {.name = name, .body = [=] {
                                    check_still(to, bytes, owner);
                                    std::memset(to, value, bytes);
                                  }});
}

Copy copy_of(const Machine& machine, void* to, const void* from, std::size_t bytes) {
  return {.to = to,
          .from = from,
          .bytes = bytes,
          .owner_to = machine.owner_of(to, bytes),
          .owner_from = machine.owner_of(from, bytes)};
}

}  // namespace

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  return call(Call::work, [&](Machine& machine) {
    *address = nullptr;
    const cudaError_t status = machine.refuse_in_capture("cudaMalloc");
    if (status != cudaSuccess || bytes == 0) {
      return status;
    }
    *address = machine.memory().allocate(bytes, current_device());
    return *address == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
  });
}

// CUDA waits for all work before it frees memory.
cudaError_t cudaFree(void* address) {
  return call(Call::cleanup, [&](Machine& machine) {
    const cudaError_t status = machine.refuse_in_capture("cudaFree");
    if (status != cudaSuccess || address == nullptr) {
      return status;
    }
    static_cast<void>(machine.wait_for_device());
    return machine.memory().release(address) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMallocHost(void** address, std::size_t bytes) {
  return cudaHostAlloc(address, bytes, cudaHostAllocDefault);
}

cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned flags) {
  constexpr unsigned kKnown =
      cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  return call(Call::work, [&](Machine& machine) {
    *address = nullptr;
    if ((flags & ~kKnown) != 0) {
      return cudaErrorInvalidValue;
    }
    const cudaError_t status = machine.refuse_in_capture("cudaHostAlloc");
    if (status != cudaSuccess || bytes == 0) {
      return status;
    }
    *address = machine.pinned().allocate(bytes);
    return *address == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
  });
}

cudaError_t cudaFreeHost(void* address) {
  return call(Call::cleanup, [&](Machine& machine) {
    const cudaError_t status = machine.refuse_in_capture("cudaFreeHost");
    if (status != cudaSuccess || address == nullptr) {
      return status;
    }
    static_cast<void>(machine.wait_for_device());
    return machine.pinned().release(address) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  return call(Call::work, [&](Machine& machine) {
    const std::optional<int> device = machine.memory().device_of(address);
    *attributes = {.type = device                               ? cudaMemoryTypeDevice
                           : machine.pinned().holds(address, 1) ? cudaMemoryTypeHost
                                                                : cudaMemoryTypeUnregistered,
                   .device = device.value_or(0)};
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call(Call::work, [&](Machine& machine) {
    *total = machine.memory().limit();
    *free = *total - std::min(*total, machine.memory().used());
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return call(Call::work, [&](Machine& machine) {
    const Copy copy = copy_of(machine, to, from, bytes);
    cudaError_t status = machine.refuse_in_capture("cudaMemcpy");
    if (status == cudaSuccess && bytes > 0) {
      status = check_copy(copy, kind);
    }
    if (status != cudaSuccess || bytes == 0) {
      return status;
    }
    status = enqueue_copy(machine, copy, nullptr, "cudaMemcpy");
    // CUDA guarantees no more. A copy from pageable memory may continue after the call returns, and
    // the host does not wait for copies within the device.
    const bool waits = copy.owner_from == Owner::pinned || !on_device(copy.owner_to);
    return status == cudaSuccess && waits ? machine.wait(Machine::mark_of(machine.stream(nullptr)))
                                          : status;
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call(Call::work, [&](Machine& machine) {
    const Copy copy = copy_of(machine, to, from, bytes);
    const cudaError_t status = bytes == 0 ? cudaSuccess : check_copy(copy, kind);
    // Tests that count launches tell these copies from others by name.
    const bool stays = on_device(copy.owner_from) && on_device(copy.owner_to);
    const char* const name = stays ? "cudaMemcpyAsync on the device" : "cudaMemcpyAsync";
    return status != cudaSuccess || bytes == 0 ? status : enqueue_copy(machine, copy, stream, name);
  });
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return call(Call::work, [&](Machine& machine) {
    const cudaError_t status = machine.refuse_in_capture("cudaMemset");
    return status == cudaSuccess ? enqueue_fill(machine, to, value, bytes, nullptr, "cudaMemset")
                                 : status;
  });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return call(Call::work, [&](Machine& machine) {
    return enqueue_fill(machine, to, value, bytes, stream, "cudaMemsetAsync");
  });
}
