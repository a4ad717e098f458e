#pragma once

#include <filesystem>
#include <vector>

#include "results/store/stored_run.h"

namespace bench::results {

/// The file itself, or the files in a folder and its subfolders whose names end in .json, by path.
std::vector<std::filesystem::path> record_files_of(const std::filesystem::path& path);

/// All runs of a file, or of all files of a folder. Throws DataError, naming the file, if one
/// cannot be read or is not a record.
std::vector<StoredRun> read_runs(const std::filesystem::path& path);

}  // namespace bench::results
