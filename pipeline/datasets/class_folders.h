#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/stages/record_stream.h"

namespace bench {

/// A folder whose images belong to one class.
struct ClassFolder {
  std::string path;
  /// Its JPEGs (.jpg, .jpeg in any case, at any depth), sorted.
  std::vector<std::string> images;
  std::int64_t other_files = 0;
};

/// The folders directly in `folder`, sorted by name, also those without JPEGs. Throws UsageError if
/// it cannot read a folder.
std::vector<ClassFolder> list_class_folders(const std::string& folder);

/// The number of JPEGs directly in `folder`, which belong to no class. Throws UsageError if it
/// cannot read the folder.
std::int64_t count_loose_images(const std::string& folder);

/// The folder that contains the class folders of a subset: train, val or validation in `data_dir`;
/// for training also `data_dir` itself, unless it contains one of these. Nothing if no folder in it
/// has a JPEG.
std::optional<std::string> find_class_folders(const std::string& data_dir, bool training);

/// Like find_class_folders(), but throws UsageError instead of returning nothing.
std::string require_class_folders(const std::string& data_dir, bool training);

struct LabelledImages {
  /// Without bytes. The labels are the numbers of the classes, counted from 1.
  std::vector<Record> images;
  std::int32_t classes = 0;
};
/// The images of a subset, sorted. The classes are the names of the folders with JPEGs in all
/// subsets, in order, so that a class has the same number in each. Throws UsageError if it finds
/// nothing or cannot read a folder.
LabelledImages list_labelled_images(const std::string& data_dir, bool training);

}  // namespace bench
