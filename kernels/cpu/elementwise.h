#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/arguments.h"
#include "kernels/cpu/thread_team.h"

namespace bench::cpu {

/// Kernels on `count` contiguous elements, whatever their layout; padded zeros stay zero. Outputs
/// may be any of the inputs. Each kernel makes one pass and waits.

/// For f32, bf16 and f16.
void add(ThreadTeam& team, const Binary& args);
void multiply(ThreadTeam& team, const Binary& args);

/// y = factor * x.
struct Scale {
  std::int64_t count = 0;
  const float* x = nullptr;
  double factor = 1;
  float* y = nullptr;
};
void scale(ThreadTeam& team, const Scale& args);

/// All pairs as one range of work.
void moving_averages(ThreadTeam& team, std::span<const MovingAverage> averages);

/// Sets bytes to zero, an equal range of whole pages per thread. This first touch places the pages
/// near the thread that touches them.
void zero_bytes(ThreadTeam& team, void* memory, std::size_t bytes);

}  // namespace bench::cpu
