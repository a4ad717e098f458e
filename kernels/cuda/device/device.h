#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/device/properties.h"

namespace bench::cuda {

struct PresentDevice {
  DeviceProperties properties;
  /// The CUDA runtime's number.
  int ordinal = 0;
};

/// The usable GPUs of this host, in the driver's order, and a sentence for each unusable one.
struct PresentDevices {
  std::vector<PresentDevice> usable;
  std::vector<std::string> left_out;
};
/// Throws UsageError with the reason if no GPU is usable: the driver or the card is missing or too
/// old.
PresentDevices present_devices();

/// The newest CUDA version that the installed driver supports: "13.0".
std::string driver_version();

/// A card by its capability, such as sm_90 (a typical card of that kind), or by a file that
/// describes one (properties_file.h). Throws UsageError that says what is missing in the file.
DeviceProperties described_device(std::string_view card);

}  // namespace bench::cuda
