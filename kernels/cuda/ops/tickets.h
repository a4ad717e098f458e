#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "kernels/cuda/device/context.h"
#include "kernels/cuda/device/memory.h"

namespace bench::cuda {

/// The body of a launch, given the kernel's tickets.
using TicketedBody = std::function<void(const Launch&, unsigned* tickets)>;

/// Makes a kernel with exclusive tickets for its last blocks: `bytes` of memory, initially zero. A
/// launch finds what the previous one left there, so launches of one kernel must not overlap in
/// time.
inline std::function<std::unique_ptr<Kernel>()> make_with_tickets(std::size_t bytes,
                                                                  TicketedBody body) {
  return [bytes, body = std::move(body)] {
    const std::shared_ptr<DeviceMemory> tickets = allocate_gpu_memory(bytes);
    return make_gpu_kernel([tickets, body](const Launch& launch) {
      body(launch, reinterpret_cast<unsigned*>(tickets->data()));
    })();
  };
}

}  // namespace bench::cuda
