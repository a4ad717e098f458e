#include <utility>
#include <vector>

#include "models/base/errors.h"
#include "models/base/tensor_file.h"
#include "pipeline/input.h"

namespace bench {
namespace {

const StoredTensor& tensor_named(const TensorFile& file, const std::string& name) {
  if (const StoredTensor* tensor = file.find(name)) {
    return *tensor;
  }
  throw DataError(fmt::format("{}: the file has no tensor '{}'; it must contain images and labels",
                              file.name(), name));
}

/// Returns the images; throws DataError unless they are whole batches of the spec.
const StoredTensor& images_of(const TensorFile& file, const InputSpec& spec) {
  const StoredTensor& images = tensor_named(file, "images");
  const std::vector<std::int64_t> image = {spec.channels, spec.height, spec.width};
  const bool fits = is_floating(images.type) && images.shape.size() == 4 && images.shape[0] > 0 &&
                    images.shape[0] % spec.images_of_all() == 0 &&
                    std::vector(images.shape.begin() + 1, images.shape.end()) == image;
  if (!fits) {
    throw DataError(
        fmt::format("{}: images is {} of {}; this run needs floating-point numbers, Nx{} with N a "
                    "multiple of the batch size {}",
                    file.name(), shape_text(images.shape), name_of(images.type), shape_text(image),
                    spec.images_of_all()));
  }
  return images;
}

/// Returns the labels; throws DataError unless each image has a label that names a class.
std::vector<std::int32_t> read_labels(const TensorFile& file, const InputSpec& spec,
                                      std::int64_t count) {
  const StoredTensor& labels = tensor_named(file, "labels");
  if (is_floating(labels.type) || labels.shape != std::vector{count}) {
    throw DataError(fmt::format("{}: labels is {} of {}; this run needs {} of I64, one per image",
                                file.name(), shape_text(labels.shape), name_of(labels.type),
                                count));
  }
  std::vector<std::int64_t> wide(static_cast<std::size_t>(count));
  file.read(labels, 0, wide);
  std::vector<std::int32_t> result;
  result.reserve(wide.size());
  for (const std::int64_t label : wide) {
    if (label < 0 || label >= spec.num_classes) {
      throw DataError(fmt::format("{}: labels[{}] is {}; 0 to {} are accepted", file.name(),
                                  result.size(), label, spec.num_classes - 1));
    }
    result.push_back(static_cast<std::int32_t>(label));
  }
  return result;
}

class TensorFileInput final : public InputSource {
 public:
  TensorFileInput(const InputSpec& spec, const std::string& path,
                  const std::shared_ptr<HostAllocator>& allocator)
      : spec_(spec),
        file_(path),
        images_(images_of(file_, spec)),
        labels_(read_labels(file_, spec, images_.shape[0])),
        image_elements_(static_cast<std::size_t>(spec.channels * spec.height * spec.width)),
        batches_(images_.shape[0] / spec.images_of_all()),
        slot_(allocator, image_elements_ * static_cast<std::size_t>(spec.batch)),
        passed_(spec.start.epoch * batches_ + spec.start.index / spec.images_of_all()) {
    statistics_.shards = 1;
    statistics_.shard_bytes = file_.size_bytes();
    statistics_.records = images_.shape[0];
  }

  InputBatch next() override {
    const std::int64_t batch = passed_ % batches_;
    const bool there_already = batches_ == 1 && filled_;
    if (!there_already) {
      content_ = ContentId::fresh();
      fill(batch);
      filled_ = true;
      statistics_.images_prepared += spec_.batch;
    }
    statistics_.epoch = passed_ / batches_;
    statistics_.images_delivered += spec_.batch;
    ++passed_;
    return {.images = slot_.data(),
            .labels = labels_.data() + first_of(batch),
            .content = content_,
            .epoch = statistics_.epoch,
            .following = {.epoch = passed_ / batches_,
                          .index = passed_ % batches_ * spec_.images_of_all()}};
  }

  [[nodiscard]] InputStatistics statistics() const override { return statistics_; }

 private:
  /// The place of this process's first image of the batch.
  [[nodiscard]] std::int64_t first_of(std::int64_t batch) const {
    return batch * spec_.images_of_all() + spec_.first_image;
  }

  void fill(std::int64_t batch) {
    const auto first = static_cast<std::uint64_t>(first_of(batch)) * image_elements_;
    const auto images = static_cast<std::size_t>(spec_.batch);
    if (spec_.layout == SlotLayout::nchw) {
      file_.read(images_, first, std::span(slot_.data(), images * image_elements_));
      return;
    }
    std::vector<float> image(image_elements_);
    for (std::size_t i = 0; i < images; ++i) {
      file_.read(images_, first + i * image_elements_, image);
      put_channels_last(image, slot_.data() + i * image_elements_);
    }
  }

  void put_channels_last(const std::vector<float>& image, float* out) const {
    const auto channels = static_cast<std::size_t>(spec_.channels);
    const std::size_t pixels = image_elements_ / channels;
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t p = 0; p < pixels; ++p) {
        out[p * channels + c] = image[c * pixels + p];
      }
    }
  }

  InputSpec spec_;
  TensorFile file_;
  const StoredTensor& images_;
  std::vector<std::int32_t> labels_;
  std::size_t image_elements_;
  std::int64_t batches_;
  HostArray<float> slot_;
  /// Identifies the slot's contents.
  ContentId content_;
  bool filled_ = false;
  /// The batches before the next one, also before the start.
  std::int64_t passed_;
  InputStatistics statistics_;
};

}  // namespace

std::unique_ptr<InputSource> make_tensor_file_input(const InputSpec& spec, const std::string& path,
                                                    std::shared_ptr<HostAllocator> allocator) {
  check(spec.type == SlotType::f32, "images from tensor files must be f32");
  return std::make_unique<TensorFileInput>(
      spec, path, allocator != nullptr ? std::move(allocator) : make_host_allocator());
}

}  // namespace bench
