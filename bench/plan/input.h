#pragma once

#include <memory>

#include "bench/plan/settings.h"
#include "pipeline/input.h"

namespace bench {

/// The label of the dataset's files that is the network's class 0: 1 where the network has a class
/// less than the dataset, since it then has none for the background.
std::int32_t first_label(const RunSettings& settings);

/// The run's batches, for all towers together, in the layout that the plan wants images in ("nchw"
/// or "nhwc"), or as pixels where the settings say so: synthetic, the dataset's, or a file's. They
/// lie where `allocator` says, in ordinary memory where it is null. `watch` hears how far synthetic
/// images are. Throws UsageError or DataError when the data cannot be used.
std::unique_ptr<InputSource> make_run_input(const RunSettings& settings, const Layout& images,
                                            const Watch& watch = {},
                                            const std::shared_ptr<HostAllocator>& allocator = {});

}  // namespace bench
