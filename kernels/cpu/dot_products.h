#pragma once

#include <cstdint>

#include "kernels/cpu/peak.h"

namespace bench::cpu {

/// Returns true for the instructions of AMX.
bool uses_tiles(MultiplyAdd instruction);

/// Asks the system for AMX's registers, which a process may not use before. Throws DeviceError if
/// it refuses. Linux, arch_prctl(2), ARCH_REQ_XCOMP_PERM.
void request_tiles();

/// Executes an instruction other than f32 `rounds` times on several independent registers. Returns
/// the number of operations, 2 per multiply-add. `result` keeps the compiler from removing them.
double multiply_add_dot(MultiplyAdd instruction, std::int64_t rounds, float* result);

}  // namespace bench::cpu
