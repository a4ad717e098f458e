#pragma once

namespace bench::cuda::emulator {

class Machine;

/// From now on a thread that touches the device's memory when it may not, or whose lane touches
/// what nobody may, says so on stderr before it dies as it would have.
void watch_faults(const Machine& machine);

}  // namespace bench::cuda::emulator
