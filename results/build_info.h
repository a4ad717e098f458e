#pragma once

#include "results/record.h"

namespace bench::results {

/// The revision this program was built from, as git told it during the build.
Source source_info();

/// Compiler, flags and options of this build; `libs` is left empty.
Build build_info();

}  // namespace bench::results
