#include "pipeline/stages/shard_list.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "models/base/errors.h"

namespace bench {

namespace {

/// Refuses special files, since a pipe would block the reading thread. A missing file is left to
/// the code that opens it.
void refuse_special(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw UsageError(cat(path.string(), ": cannot be read: it is no ordinary file"));
  }
}

}  // namespace

std::string_view shard_prefix(bool training) { return training ? "train" : "validation"; }

std::vector<std::string> find_shards(const std::string& folder, std::string_view prefix) {
  return find_matching_files(folder, cat(prefix, "-*-of-*"));
}

void require_folder(const std::string& folder, std::string_view content) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(folder, error);
  if (std::filesystem::is_directory(status)) {
    return;
  }
  const std::string why =
      status.type() == std::filesystem::file_type::not_found ? "there is no such folder"
      : std::filesystem::exists(status)                      ? "is a file, not a folder"
                                        : cat("cannot be looked at: ", error.message());
  throw UsageError(cat("--data_dir=", folder, ": ", why, "; accepted is a folder with ", content));
}

std::vector<std::string> find_matching_files(const std::string& folder,
                                             const std::string& pattern) {
  require_folder(folder, cat("files ", pattern));
  std::error_code error;
  std::vector<std::string> shards;
  std::filesystem::directory_iterator entries(folder, error);
  for (const std::filesystem::directory_iterator end; !error && entries != end;
       entries.increment(error)) {
    if (::fnmatch(pattern.c_str(), entries->path().filename().c_str(), 0) == 0) {
      shards.push_back(entries->path().string());
      refuse_special(entries->path());
    }
  }
  if (error) {
    throw UsageError(cat("--data_dir=", folder, ": cannot be read: ", error.message()));
  }
  if (shards.empty()) {
    throw UsageError(cat("--data_dir=", folder, ": holds no files ", pattern));
  }
  std::sort(shards.begin(), shards.end());
  return shards;
}

std::uint64_t total_bytes(const std::vector<std::string>& shards) {
  std::uint64_t sum = 0;
  for (const std::string& shard : shards) {
    std::error_code error;
    const std::uint64_t bytes = std::filesystem::file_size(shard, error);
    sum += error ? 0 : bytes;
  }
  return sum;
}

}  // namespace bench
