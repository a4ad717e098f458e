#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/store/stored_run.h"
#include "results/tool/arguments.h"

namespace bench::results {

/// What `selectors` name, each once, oldest first: files and folders of records, ids of runs and of
/// groups, baselines, filters over the store that `arguments` name (which must have kStoreOption).
/// The store is opened only where a selector needs it. Throws UsageError for a selector that means
/// nothing, DataError for one that finds no run.
std::vector<StoredRun> select_runs(const Arguments& arguments,
                                   std::span<const std::string> selectors);
std::vector<StoredRun> select_runs(const Arguments& arguments, const std::string& selector);

}  // namespace bench::results
