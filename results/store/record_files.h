#pragma once

#include <filesystem>
#include <vector>

#include "results/store/stored_run.h"

namespace bench::results {

/// All runs of a file, or of the files of a folder and those within it whose names end in .json,
/// by path. Throws DataError, naming the file, for one that is no record or cannot be read.
std::vector<StoredRun> read_runs(const std::filesystem::path& path);

}  // namespace bench::results
