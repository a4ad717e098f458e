#pragma once

#include "bench/flags/flags.h"
#include "bench/plan/settings.h"

namespace bench {

inline constexpr std::string_view kDefaultDataset = "imagenet";

/// Throws UsageError if torchvision has no such network: those have 1000 classes, without
/// background.
void check_torchvision(const Flags& flags, const Model& model);

/// The run's input: synthetic, a file, or a dataset. Throws UsageError.
InputSettings input_of(const Flags& flags);

/// True if the run reads a dataset whose pixels the device can normalise.
bool can_send_pixels(const Workload& workload);

/// The type of the input slots in a run with --data_dir. Throws UsageError.
SlotType slot_type_of(const Flags& flags, RunDevice device, const Workload& workload);

}  // namespace bench
