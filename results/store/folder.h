#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/store/sqlite.h"
#include "results/store/stored_run.h"

namespace bench::results {

/// The files of a store that is a folder: a record each, at YYYY/MM/<record_id>.json by the time it
/// began, and a file per table of notes.
std::filesystem::path record_path(const std::filesystem::path& folder, const StoredRun& run);

std::filesystem::path index_path(const std::filesystem::path& folder);

/// Writes a record to its place; false where it was there already. Throws WriteError.
bool write_record(const std::filesystem::path& folder, const StoredRun& run);

/// Makes `index` hold what the files do; returns a sentence for each file that is no record.
std::vector<std::string> refresh_index(const std::filesystem::path& folder, const Database& index);

/// Puts into .gitignore what of the folder is nothing for git, where the lines are not there yet
/// and it can be changed.
void keep_from_git(const std::filesystem::path& folder);

/// Removes what programs that were killed left half-written more than an hour ago; what one is
/// writing now stays.
void remove_half_written(const std::filesystem::path& folder);

/// Writes the rows of `table` to notes/<table>.jsonl, sorted.
void write_notes(const std::filesystem::path& folder, const Database& index,
                 const std::string& table);

}  // namespace bench::results
