#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "results/store/store.h"
#include "results/tool/arguments.h"

namespace bench::results {

/// The store that `arguments` name by kStoreOption, else the default one.
Store open_store(const Arguments& arguments, Store::Access access);
std::filesystem::path store_path(const Arguments& arguments);

/// Whether runs come with their records; without, `record` is null for those from the store, and
/// a thousand take as long as a few with theirs.
enum class Detail : std::uint8_t { kRecords, kSummaries };

/// What `selectors` name, each once, oldest first: files and folders of records, ids of runs and of
/// groups, baselines, filters over the store that `arguments` name (which must have kStoreOption).
/// The store is opened only where a selector needs it. Throws UsageError for a selector that means
/// nothing, DataError for one that finds no run. Says on `notes` where several are filters, since
/// `list` takes the same words for one filter, whose runs are fewer.
std::vector<StoredRun> select_runs(const Arguments& arguments,
                                   std::span<const std::string> selectors, std::ostream& notes,
                                   Detail detail = Detail::kRecords);
/// What one names.
std::vector<StoredRun> select_runs(const Arguments& arguments, const std::string& selector,
                                   Detail detail = Detail::kRecords);

/// Now, in milliseconds since 1970.
std::int64_t now_ms();

}  // namespace bench::results
