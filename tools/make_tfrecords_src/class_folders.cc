#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "pipeline/datasets/class_folders.h"
#include "tools/make_tfrecords_src/source_set.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

std::string load(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string contents(std::istreambuf_iterator<char>(in), {});
  if (!in) {
    throw DataError(fmt::format("{}: cannot read the file", path.string()));
  }
  return contents;
}

void warn_of_skipped(const ClassFolder& folder, std::vector<std::string>& warnings) {
  const std::int64_t others = folder.other_files;
  if (folder.images.empty()) {
    warnings.push_back(
        fmt::format("'{}' contains no JPEGs (.jpg, .jpeg), so it is not a class", folder.path));
  } else if (others > 0) {
    warnings.push_back(fmt::format("'{}': skipped {} that {} not JPEG (.jpg, .jpeg)", folder.path,
                                   others == 1 ? "1 file" : fmt::format("{} files", others),
                                   others == 1 ? "is" : "are"));
  }
}

}  // namespace

SourceSet read_class_folders(const std::string& source, double validation_fraction) {
  SourceSet set;
  if (const std::int64_t loose = count_loose_images(source); loose > 0) {
    set.warnings.push_back(fmt::format("'{}': skipped {} outside class folders", source,
                                       loose == 1 ? "1 JPEG" : fmt::format("{} JPEGs", loose)));
  }
  for (ClassFolder& folder : list_class_folders(source)) {
    warn_of_skipped(folder, set.warnings);
    if (folder.images.empty()) {
      continue;
    }
    set.class_names.push_back(fs::path(folder.path).filename());
    const auto label = static_cast<std::int64_t>(set.class_names.size());
    RandomStream random(hash_name("validation images"), static_cast<std::uint64_t>(label));
    shuffle(folder.images, random);
    const auto validating = static_cast<std::size_t>(
        std::llround(validation_fraction * static_cast<double>(folder.images.size())));
    for (std::size_t i = 0; i < folder.images.size(); ++i) {
      const fs::path path = folder.images[i];
      auto& subset = i < validating ? set.validation : set.training;
      subset.push_back({.label = label, .file_name = path.filename(), .load_jpeg = [path] {
                          return load(path);
                        }});
    }
  }
  if (set.class_names.empty()) {
    throw UsageError(
        fmt::format("source '{}' contains neither class folders with JPEGs (.jpg, .jpeg) nor "
                    "train-images-idx3-ubyte[.gz]",
                    source));
  }
  return set;
}

}  // namespace bench
