#pragma once

namespace bench::cuda::emulator {

class Machine;

/// From now on, an invalid access to device memory is reported on stderr before the thread dies of
/// the signal. This covers threads and lanes that may not touch that memory.
void watch_faults(const Machine& machine);

}  // namespace bench::cuda::emulator
