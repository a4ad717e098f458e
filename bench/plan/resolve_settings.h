#pragma once

#include "bench/flags/flags.h"
#include "bench/plan/settings.h"

namespace bench {

/// This process's place among those of a run.
struct ProcessPlace {
  int process = 0;
  int processes = 1;
  /// Processes that hold the variables, in addition to these.
  int servers = 0;
};

/// Resolves the settings of a run from its flags. Throws UsageError for a model, dataset or value
/// that does not exist or does not fit.
RunSettings resolve_settings(const ParseResult& parsed, const ProcessPlace& place = {});

}  // namespace bench
