#pragma once

#include <memory>

#include "bench/settings.h"
#include "pipeline/input.h"

namespace bench {

/// The run's batches in the layout that the plan wants images in ("nchw" or "nhwc"): synthetic, the
/// dataset's, or a file's. Throws UsageError or DataError when the data cannot be used.
std::unique_ptr<InputSource> make_run_input(const RunSettings& settings, const Layout& images);

}  // namespace bench
