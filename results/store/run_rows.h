#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/store/filter.h"
#include "results/store/sqlite.h"
#include "results/store/stored_run.h"

namespace bench::results {

/// Puts a run into the tables, within the caller's transaction; false where it is there already.
bool insert_run(const Database& database, const StoredRun& run);

void delete_run(const Database& database, const std::string& record_id);

/// What Store::summaries returns.
std::vector<StoredRun> read_summaries(const Database& database, const Filter& filter);

/// What Store::load returns.
std::vector<StoredRun> read_records(const Database& database, const Filter& filter);

}  // namespace bench::results
