#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/properties.h"

namespace bench::cuda {

/// The GPUs of this host, in the driver's order. Throws UsageError that says in a sentence why none
/// can be used: no driver, one too old, no card, a card too old.
std::vector<DeviceProperties> present_devices();

/// The newest CUDA that the installed driver serves: "13.0".
std::string driver_version();

/// A card by its capability, as sm_90: a usual one of that kind. Throws UsageError that names those
/// there are.
DeviceProperties described_device(std::string_view capability);

}  // namespace bench::cuda
