#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "results/store/sqlite.h"
#include "results/store/stored_run.h"

namespace bench::results {

/// The path of a record in a folder store: YYYY/MM/<record_id>.json, by the time when the run
/// began.
std::filesystem::path record_path(const std::filesystem::path& folder, const StoredRun& run);

std::filesystem::path index_path(const std::filesystem::path& folder);

/// Writes a record to its path; returns false if it is there already. Throws WriteError.
bool write_record(const std::filesystem::path& folder, const StoredRun& run);

/// Updates `index` from the files. Returns a sentence for each file that is not a record. Calls
/// `tell` before it reads many records.
std::vector<std::string> refresh_index(const std::filesystem::path& folder, const Database& index,
                                       const std::function<void(const std::string&)>& tell);

/// Adds the files that git should ignore to .gitignore, if the lines are missing and it can be
/// changed.
void keep_from_git(const std::filesystem::path& folder);

/// Removes the half-written files of killed programs, after an hour. Files being written now stay.
void remove_half_written(const std::filesystem::path& folder);

/// Writes the rows of `table` to notes/<table>.jsonl, sorted.
void write_notes(const std::filesystem::path& folder, const Database& index,
                 const std::string& table);

}  // namespace bench::results
