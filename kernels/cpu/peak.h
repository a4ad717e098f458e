#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "kernels/cpu/thread_team.h"

namespace bench::cpu {

/// The instructions that multiply and add. The sums are 32 bits wide.
enum class MultiplyAdd : std::uint8_t {
  /// Fused multiply-add of f32, in the widest vectors of the processor.
  f32,
  /// AVX512_BF16.
  bf16_pairs,
  /// AVX512_VNNI.
  byte_quads,
  /// AVX-VNNI: 256 bits.
  byte_quads_256,
  /// AMX.
  bf16_tiles,
  f16_tiles,
  byte_tiles,
};

/// Returns the seconds per round of the fastest of `repeats` runs. `seconds_of(rounds)` runs that
/// many rounds and returns their time; rounds double until a run takes about 4 ms.
double seconds_per_round(int repeats, const std::function<double(std::int64_t)>& seconds_of);

/// The operations per second, 2 per multiply-add, that all threads together reach with operands in
/// registers. This is the limit of every kernel that uses the instruction. The processor must have
/// it. Takes about 0.1 s; waits.
double peak_flops(ThreadTeam& team, MultiplyAdd instruction);

/// The same of one run of about 4 ms. It is lower than peak_flops() while other programs, or
/// other virtual machines, use the same cores. Takes about 0.01 s; waits.
double sample_flops(ThreadTeam& team, MultiplyAdd instruction);

/// The bytes per second that all threads together read and write if they traverse `memory` again
/// and again. Each thread has an equal part. This is the largest of several ratios of reads to
/// writes. Overwrites the memory. Takes about 0.2 s, or 34 traversals if they are slow; waits.
double peak_bandwidth(ThreadTeam& team, std::span<std::byte> memory);

}  // namespace bench::cpu
