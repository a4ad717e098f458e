#pragma once

#include "results/record/record.h"

namespace bench::results {

/// The revision that this program was built from, read from git during the build.
Source source_info();

/// Compiler, flags and options of this build; `libs` is left empty.
Build build_info();

}  // namespace bench::results
