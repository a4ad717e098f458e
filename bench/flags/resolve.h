#pragma once

#include <string>
#include <vector>

#include "bench/flags/flags.h"

namespace bench {

/// The device and layout of a run.
struct Placement {
  std::string device;       ///< cpu, gpu or reference
  std::string data_format;  ///< NCHW, NHWC or auto
  std::vector<std::string> notices;
};

/// Resolves the device and layout that the flags leave open. The device is a GPU if one is usable
/// (`no_gpu` is empty), else the CPU with a notice that gives the reason. The layout is NHWC on the
/// GPU with a notice, NCHW on the reference, auto on the CPU. On the CPU, NCHW comes with a notice.
Placement resolve_placement(const Flags& flags, const std::string& no_gpu);

/// The flags' data_name; without it, imagenet for synthetic data, else the first known name that
/// occurs in data_dir. Throws UsageError if no name occurs.
std::string resolve_data_name(const Flags& flags);

}  // namespace bench
