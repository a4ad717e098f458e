#include "results/store/record_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "models/base/errors.h"

namespace bench::results {
namespace {

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad()) {
    throw DataError(
        fmt::format("{}: cannot read the file: {}", path.string(), std::strerror(errno)));
  }
  return text;
}

}  // namespace

std::vector<std::filesystem::path> record_files_of(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) {
    return {path};
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    std::error_code dangling;  // Such as a link to itself.
    if (entry.is_regular_file(dangling) && entry.path().extension() == ".json") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<StoredRun> read_runs(const std::filesystem::path& path) {
  std::vector<StoredRun> runs;
  for (const std::filesystem::path& file : record_files_of(path)) {
    runs.push_back(parse_run(text_of_file(file), file.string()));
  }
  return runs;
}

}  // namespace bench::results
