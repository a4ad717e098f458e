#pragma once

#include <string>

#include "kernels/cuda/device/properties.h"

namespace bench::cuda {

/// A card as JSON: one number under each name of DeviceProperties. For a present card,
/// gpu_properties prints it as "description".
std::string description_json(const DeviceProperties& device);

/// The card in a file with such a description, or with gpu_properties' output for identical cards.
/// Unknown names are ignored. Throws UsageError that says what is wrong with the file, without its
/// name.
DeviceProperties read_description(const std::string& path);

}  // namespace bench::cuda
