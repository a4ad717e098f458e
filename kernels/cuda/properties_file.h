#pragma once

#include <string>

#include "kernels/cuda/properties.h"

namespace bench::cuda {

/// A card as JSON: one number by each name of DeviceProperties, and "reached" where something was
/// measured. What gpu_properties prints of a card that is there, as its "description".
std::string description_json(const DeviceProperties& device);

/// The card of a file with such a description, or with all that gpu_properties prints, of cards
/// that are alike. Names that are not known are left alone. Throws UsageError that says what is
/// wrong with the file, which it does not name.
DeviceProperties read_description(const std::string& path);

}  // namespace bench::cuda
