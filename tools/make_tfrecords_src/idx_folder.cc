#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <span>

#include "models/base/errors.h"
#include "pipeline/formats/jpeg_encoder.h"
#include "tools/make_tfrecords_src/idx_file.h"
#include "tools/make_tfrecords_src/source_set.h"

namespace bench {
namespace {

/// Returns the file of that name, with or without .gz, or "".
std::string find(const std::string& folder, const std::string& name) {
  for (const char* ending : {"", ".gz"}) {
    const std::string path = std::filesystem::path(folder) / (name + ending);
    if (std::filesystem::is_regular_file(path)) {
      return path;
    }
  }
  return "";
}

std::string find_or_throw(const std::string& folder, const std::string& name) {
  const std::string path = find(folder, name);
  if (path.empty()) {
    throw UsageError(fmt::format("source '{}' contains neither {} nor {}.gz", folder, name, name));
  }
  return path;
}

std::vector<SourceImage> read_subset(const std::string& folder, const std::string& subset,
                                     int quality) {
  const std::string image_path = find_or_throw(folder, subset + "-images-idx3-ubyte");
  const std::string label_path = find_or_throw(folder, subset + "-labels-idx1-ubyte");
  const auto images = std::make_shared<const IdxFile>(read_idx_file(image_path));
  const IdxFile labels = read_idx_file(label_path);
  if (images->extents.size() != 3 || labels.extents.size() != 1 ||
      images->extents[0] != labels.extents[0] || images->extents[1] <= 0 ||
      images->extents[2] <= 0) {
    throw DataError(
        fmt::format("{} and {}: these files must contain N x height x width images and N labels",
                    image_path, label_path));
  }
  const auto height = static_cast<std::size_t>(images->extents[1]);
  const auto width = static_cast<std::size_t>(images->extents[2]);
  std::vector<SourceImage> out;
  for (std::size_t i = 0; i < labels.bytes.size(); ++i) {
    const auto load = [images, i, height, width, quality] {
      const auto* samples = reinterpret_cast<const std::uint8_t*>(images->bytes.data());
      return encode_jpeg({.samples = {samples + i * height * width, height * width},
                          .width = static_cast<int>(width),
                          .height = static_cast<int>(height),
                          .components = 1},
                         {.quality = quality});
    };
    out.push_back({.label = static_cast<unsigned char>(labels.bytes[i]) + 1,
                   .file_name = fmt::format("{}-{}.jpeg", subset, i),
                   .load_jpeg = load});
  }
  return out;
}

/// Returns the class names of Fashion-MNIST. Other data sets of this format get numbers.
std::vector<std::string> class_names(const std::string& folder, std::int64_t classes) {
  constexpr std::array kFashion = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                   "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  if (folder.find("fashion") != std::string::npos &&
      classes == static_cast<std::int64_t>(kFashion.size())) {
    return {kFashion.begin(), kFashion.end()};
  }
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < classes; ++i) {
    names.push_back(fmt::format("{}", i));
  }
  return names;
}

}  // namespace

bool holds_idx_files(const std::string& folder) {
  return !find(folder, "train-images-idx3-ubyte").empty();
}

SourceSet read_idx_folder(const std::string& folder, int jpeg_quality) {
  SourceSet set;
  set.training = read_subset(folder, "train", jpeg_quality);
  set.validation = read_subset(folder, "t10k", jpeg_quality);
  std::int64_t classes = 0;
  for (const auto& images : {std::span(set.training), std::span(set.validation)}) {
    for (const SourceImage& image : images) {
      classes = std::max(classes, image.label);
    }
  }
  set.class_names = class_names(folder, classes);
  return set;
}

}  // namespace bench
