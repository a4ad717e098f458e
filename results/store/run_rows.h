#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/store/filter.h"
#include "results/store/sqlite.h"
#include "results/store/stored_run.h"

namespace bench::results {

/// Adds a run to the tables, within the caller's transaction. Returns false if it is there already.
bool insert_run(const Database& database, const StoredRun& run);

void delete_run(const Database& database, const std::string& record_id);

/// Implements Store::summaries.
std::vector<StoredRun> read_summaries(const Database& database, const Filter& filter);

/// Implements Store::load.
std::vector<StoredRun> read_records(const Database& database, const Filter& filter);

}  // namespace bench::results
