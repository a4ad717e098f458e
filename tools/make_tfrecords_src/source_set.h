#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// One labelled image that can be loaded.
struct SourceImage {
  std::int64_t label = 0;  ///< from 1; 0 is the background class, which no image has
  std::string file_name;
  /// The image as a JPEG; throws DataError naming the file.
  std::function<std::string()> load_jpeg;
};

/// The images that are converted to records.
struct SourceSet {
  std::vector<std::string> class_names;  ///< of the labels 1, 2, ...
  std::vector<SourceImage> training;
  std::vector<SourceImage> validation;
  std::vector<std::string> warnings;  ///< about what is skipped
};

/// Reads a folder of class folders with JPEGs (.jpg, .jpeg in any case, at any depth below the
/// class folder). Labels follow the order of the class names. The given fraction of each class,
/// chosen at random but the same on each run, is for validation. Other files, and folders without
/// JPEGs, cause a warning. Throws UsageError if it finds no JPEGs.
SourceSet read_class_folders(const std::string& folder, double validation_fraction);

/// Reads a folder with the four idx files of MNIST's format, with or without gzip. The t10k images
/// are for validation. Each image becomes a grey JPEG of this quality. Throws DataError naming the
/// file.
SourceSet read_idx_folder(const std::string& folder, int jpeg_quality);

/// Returns true if read_idx_folder can read this folder.
bool holds_idx_files(const std::string& folder);

}  // namespace bench
