#include "pipeline/datasets/class_folders.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <utility>

#include "models/base/errors.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

bool is_jpeg_name(const fs::path& path) {
  std::string ending = path.extension();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".jpg" || ending == ".jpeg";
}

ClassFolder list_images(const fs::path& folder) {
  ClassFolder out{.path = folder.string(), .images = {}};
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) {
      continue;
    }
    if (is_jpeg_name(entry.path())) {
      out.images.push_back(entry.path().string());
    } else {
      ++out.other_files;
    }
  }
  std::sort(out.images.begin(), out.images.end());
  return out;
}

UsageError cannot_read(const std::string& folder, const fs::filesystem_error& error) {
  return UsageError(fmt::format("cannot read the folder '{}': {}", folder, error.code().message()));
}

/// True if a folder in `folder` has a JPEG.
bool has_class_folders(const fs::path& folder) {
  if (std::error_code error; !fs::is_directory(folder, error)) {
    return false;
  }
  try {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (!entry.is_directory()) {
        continue;
      }
      for (const auto& image : fs::recursive_directory_iterator(entry.path())) {
        if (is_jpeg_name(image.path()) && image.is_regular_file()) {
          return true;
        }
      }
    }
  } catch (const fs::filesystem_error& error) {
    throw cannot_read(folder.string(), error);
  }
  return false;
}

constexpr std::array<std::string_view, 3> kSubsets = {"train", "val", "validation"};

class ImageStream final : public RecordStream {
 public:
  explicit ImageStream(const std::vector<ClassFolder>& classes)
      : images_(std::make_shared<Images>()) {
    for (std::size_t i = 0; i < classes.size(); ++i) {
      for (const std::string& path : classes[i].images) {
        images_->emplace_back(path, static_cast<std::int32_t>(i) + 1);
      }
    }
    check(!images_->empty(), "a stream needs images");
  }

  std::optional<Record> next() override {
    if (place_ == images_->size()) {
      place_ = 0;
      return std::nullopt;
    }
    const auto& [path, label] = (*images_)[place_++];
    return Record{.bytes = nullptr,
                  .file = std::shared_ptr<const std::string>(images_, &path),
                  .label = label};
  }

 private:
  using Images = std::vector<std::pair<std::string, std::int32_t>>;
  /// Records refer to their paths in it.
  std::shared_ptr<Images> images_;
  std::size_t place_ = 0;
};

}  // namespace

std::vector<ClassFolder> list_class_folders(const std::string& folder) {
  std::vector<ClassFolder> classes;
  try {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_directory()) {
        classes.push_back(list_images(entry.path()));
      }
    }
  } catch (const fs::filesystem_error& error) {
    throw cannot_read(folder, error);
  }
  std::sort(classes.begin(), classes.end(),
            [](const ClassFolder& a, const ClassFolder& b) { return a.path < b.path; });
  return classes;
}

std::int64_t count_loose_images(const std::string& folder) {
  try {
    return std::count_if(fs::directory_iterator(folder), fs::directory_iterator(),
                         [](const fs::directory_entry& entry) {
                           return is_jpeg_name(entry.path()) && entry.is_regular_file();
                         });
  } catch (const fs::filesystem_error& error) {
    throw cannot_read(folder, error);
  }
}

std::optional<std::string> find_class_folders(const std::string& data_dir, bool training) {
  const fs::path root(data_dir);
  bool has_subsets = false;
  for (const std::string_view name : kSubsets) {
    if (has_class_folders(root / name)) {
      if ((name == "train") == training) {
        return (root / name).string();
      }
      has_subsets = true;
    }
  }
  if (training && !has_subsets && has_class_folders(root)) {
    return data_dir;
  }
  return std::nullopt;
}

std::unique_ptr<RecordStream> stream_images(const std::vector<ClassFolder>& classes) {
  return std::make_unique<ImageStream>(classes);
}

}  // namespace bench
