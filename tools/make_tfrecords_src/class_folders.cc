#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "models/base/errors.h"
#include "tools/make_tfrecords_src/shuffle.h"
#include "tools/make_tfrecords_src/source_set.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

bool is_jpeg_name(const fs::path& path) {
  std::string ending = path.extension();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".jpg" || ending == ".jpeg";
}

std::string load(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string contents(std::istreambuf_iterator<char>(in), {});
  if (!in) {
    throw DataError(fmt::format("{}: cannot read the file", path.string()));
  }
  return contents;
}

std::vector<fs::path> sorted_folders(const std::string& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) {
      out.push_back(entry.path());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Returns the JPEGs of a class, and adds a warning for other files.
std::vector<fs::path> sorted_jpegs(const fs::path& folder, std::vector<std::string>& warnings) {
  std::vector<fs::path> out;
  std::int64_t others = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && is_jpeg_name(entry.path())) {
      out.push_back(entry.path());
    } else if (entry.is_regular_file()) {
      ++others;
    }
  }
  std::sort(out.begin(), out.end());
  if (out.empty()) {
    warnings.push_back(
        fmt::format("'{}' contains no JPEGs (.jpg, .jpeg), so it is not a class", folder.string()));
  } else if (others > 0) {
    warnings.push_back(fmt::format(
        "'{}': skipped {} that {} not JPEG (.jpg, .jpeg)", folder.string(),
        others == 1 ? "1 file" : fmt::format("{} files", others), others == 1 ? "is" : "are"));
  }
  return out;
}

}  // namespace

SourceSet read_class_folders(const std::string& folder, double validation_fraction) {
  SourceSet set;
  try {
    for (const fs::path& class_folder : sorted_folders(folder)) {
      std::vector<fs::path> images = sorted_jpegs(class_folder, set.warnings);
      if (images.empty()) {
        continue;
      }
      set.class_names.push_back(class_folder.filename());
      const auto label = static_cast<std::int64_t>(set.class_names.size());
      shuffle(images,
              RandomStream(hash_name("validation images"), static_cast<std::uint64_t>(label)));
      const auto validating = static_cast<std::size_t>(
          std::llround(validation_fraction * static_cast<double>(images.size())));
      for (std::size_t i = 0; i < images.size(); ++i) {
        auto& subset = i < validating ? set.validation : set.training;
        subset.push_back({.label = label,
                          .file_name = images[i].filename(),
                          .load_jpeg = [path = images[i]] { return load(path); }});
      }
    }
  } catch (const fs::filesystem_error& error) {
    throw UsageError(
        fmt::format("cannot read the source '{}': {}", folder, error.code().message()));
  }
  if (set.class_names.empty()) {
    throw UsageError(
        fmt::format("source '{}' contains neither class folders with JPEGs (.jpg, .jpeg) nor "
                    "train-images-idx3-ubyte[.gz]",
                    folder));
  }
  return set;
}

}  // namespace bench
