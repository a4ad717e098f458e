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

/// What is turned into records.
struct SourceSet {
  std::vector<std::string> class_names;  ///< of the labels 1, 2, ...
  std::vector<SourceImage> training;
  std::vector<SourceImage> validation;
};

/// A folder of class folders with JPEGs (.jpg, .jpeg in any case, at any depth below the class
/// folder). Classes are labelled in the order of their names. Of each class the given part, chosen
/// at random but always the same, is for validation. Throws UsageError when there are no such
/// images.
SourceSet read_class_folders(const std::string& folder, double validation_fraction);

/// A folder with the four idx files of MNIST's form, compressed with gzip or not; their t10k images
/// are for validation. Each image becomes a grey JPEG of this quality. Throws DataError naming the
/// file.
SourceSet read_idx_folder(const std::string& folder, int jpeg_quality);

/// Whether read_idx_folder is for this folder.
bool holds_idx_files(const std::string& folder);

}  // namespace bench
