#pragma once

#include <filesystem>
#include <vector>

#include "results/store/stored_run.h"

namespace bench::results {

/// The file itself, or those of a folder and of the folders within it whose names end in .json, by
/// path.
std::vector<std::filesystem::path> record_files_of(const std::filesystem::path& path);

/// All runs of a file, or of all files of a folder. Throws DataError, naming the file, for one that
/// is no record or cannot be read.
std::vector<StoredRun> read_runs(const std::filesystem::path& path);

}  // namespace bench::results
