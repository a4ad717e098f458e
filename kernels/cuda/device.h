#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/properties.h"

namespace bench::cuda {

struct PresentDevice {
  DeviceProperties properties;
  /// What the CUDA runtime calls it.
  int ordinal = 0;
};

/// The GPUs of this host that can be used, in the driver's order, and a sentence for each other
/// one.
struct PresentDevices {
  std::vector<PresentDevice> usable;
  std::vector<std::string> left_out;
};
/// Throws UsageError that says in a sentence why none can be used: no driver, one too old, no card,
/// all cards too old.
PresentDevices present_devices();

/// The newest CUDA that the installed driver serves: "13.0".
std::string driver_version();

/// A card by its capability, as sm_90: a usual one of that kind; or by a file that describes one
/// (properties_file.h). Throws UsageError that says what the file lacks.
DeviceProperties described_device(std::string_view card);

}  // namespace bench::cuda
