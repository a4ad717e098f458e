#pragma once

#include <vector>

#include "bench/host/system_files.h"
#include "results/record.h"

namespace bench {

/// The memory modules that the firmware lists (SMBIOS, DMTF DSP0134, structures of type 17), slots
/// without one left out. The kernel shows the table to root alone.
Captured<std::vector<results::Dimm>> capture_dimms(const SystemFiles& files);

}  // namespace bench
