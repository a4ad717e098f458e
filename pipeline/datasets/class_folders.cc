#include "pipeline/datasets/class_folders.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "models/base/errors.h"
#include "pipeline/stages/shard_list.h"

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

std::string name_of(const ClassFolder& folder) { return fs::path(folder.path).filename(); }

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

std::string require_class_folders(const std::string& data_dir, bool training) {
  if (auto folder = find_class_folders(data_dir, training)) {
    return *folder;
  }
  throw UsageError(fmt::format(
      "--data_dir={}: the folder contains neither shards ({}-*-of-*) nor JPEGs (.jpg, .jpeg) in a "
      "folder per class, {}",
      data_dir, shard_prefix(training),
      training ? "such as cat/1.jpg or train/cat/1.jpg" : "such as val/cat/1.jpg"));
}

LabelledImages list_labelled_images(const std::string& data_dir, bool training) {
  const std::string root = require_class_folders(data_dir, training);
  std::vector<ClassFolder> wanted = list_class_folders(root);
  // Without a folder for the subset, data_dir itself contains the classes.
  const auto other = root == data_dir ? std::nullopt : find_class_folders(data_dir, !training);
  std::map<std::string, std::int32_t> labels;
  const auto add_names = [&](const std::vector<ClassFolder>& classes) {
    for (const ClassFolder& each : classes) {
      if (!each.images.empty()) {
        labels.emplace(name_of(each), 0);
      }
    }
  };
  add_names(wanted);
  if (other) {
    add_names(list_class_folders(*other));
  }
  LabelledImages out;
  for (auto& [name, label] : labels) {
    label = ++out.classes;
  }
  for (ClassFolder& folder : wanted) {
    for (std::string& path : folder.images) {
      out.images.push_back({.bytes = nullptr,
                            .file = std::make_shared<const std::string>(std::move(path)),
                            .label = labels.at(name_of(folder))});
    }
  }
  return out;
}

}  // namespace bench
