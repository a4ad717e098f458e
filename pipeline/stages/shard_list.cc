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
    throw UsageError(
        fmt::format("{}: cannot read the file: it is not a regular file", path.string()));
  }
}

std::string pattern_of(std::string_view prefix) { return fmt::format("{}-*-of-*", prefix); }

bool is_index(std::string_view name) { return name.ends_with(".idx"); }

}  // namespace

std::vector<std::string> list_matching_files(const std::string& folder,
                                             const std::string& pattern) {
  require_folder(folder, "files " + pattern);
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
    throw UsageError(
        fmt::format("--data_dir={}: cannot read the folder: {}", folder, error.message()));
  }
  std::sort(shards.begin(), shards.end());
  return shards;
}

bool is_shard_name(std::string_view name) {
  return (name.starts_with("train-") || name.starts_with("validation-")) &&
         name.find("-of-") != std::string_view::npos && !is_index(name);
}

std::string_view shard_prefix(bool training) { return training ? "train" : "validation"; }

std::vector<std::string> list_shards(const std::string& folder, std::string_view prefix) {
  std::vector<std::string> shards = list_matching_files(folder, pattern_of(prefix));
  std::erase_if(shards, is_index);
  return shards;
}

void require_folder(const std::string& folder, std::string_view content) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(folder, error);
  if (std::filesystem::is_directory(status)) {
    return;
  }
  if (status.type() == std::filesystem::file_type::not_found) {
    throw UsageError(fmt::format("--data_dir={}: the folder does not exist; give a folder with {}",
                                 folder, content));
  }
  if (std::filesystem::exists(status)) {
    throw UsageError(
        fmt::format("--data_dir={}: this is a file; give a folder with {}", folder, content));
  }
  throw UsageError(fmt::format("--data_dir={}: cannot access the folder: {}; give a folder with {}",
                               folder, error.message(), content));
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
