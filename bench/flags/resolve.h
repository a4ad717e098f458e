#pragma once

#include <string>
#include <vector>

#include "bench/flags/flags.h"

namespace bench {

/// Where and in which layout a run computes.
struct Placement {
  std::string device;       ///< cpu, gpu or reference
  std::string data_format;  ///< NCHW, NHWC or auto
  std::vector<std::string> notices;
};

/// The flags' device, or the GPU where `gpu_present`, else the CPU with a notice; the flags'
/// layout, or NCHW on the GPU and auto elsewhere. NCHW on the CPU comes with a notice.
Placement resolve_placement(const Flags& flags, bool gpu_present);

/// The flags' data_name; without it imagenet for synthetic data, else the first known name that
/// occurs in data_dir. Throws UsageError if none does, or if that dataset is not built yet.
std::string resolve_data_name(const Flags& flags);

}  // namespace bench
