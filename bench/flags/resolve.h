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

/// The flags' device, or the GPU where one can be used, for which `no_gpu` is empty, else the CPU
/// with a notice that says why; the flags' layout, or NHWC on the GPU with a notice, NCHW on the
/// reference and auto on the CPU, where NCHW comes with a notice.
Placement resolve_placement(const Flags& flags, const std::string& no_gpu);

/// The flags' data_name; without it imagenet for synthetic data, else the first known name that
/// occurs in data_dir. Throws UsageError if none does, or if that dataset is not built yet.
std::string resolve_data_name(const Flags& flags);

}  // namespace bench
