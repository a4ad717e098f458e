#pragma once

#include <vector>

#include "results/environment/system_files.h"
#include "results/record/record.h"

namespace bench {

/// The memory modules that the firmware lists, without empty slots (SMBIOS, DMTF DSP0134,
/// structures of type 17). Only root may read the kernel's table.
Captured<std::vector<results::Dimm>> capture_dimms(const SystemFiles& files);

}  // namespace bench
