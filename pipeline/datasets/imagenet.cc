#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/base/errors.h"
#include "models/base/threads.h"
#include "pipeline/datasets/imagenet_files.h"
#include "pipeline/formats/example_scanner.h"
#include "pipeline/formats/tfrecord.h"
#include "pipeline/formats/tfrecord_reader.h"
#include "pipeline/input.h"
#include "pipeline/stages/batch_loader.h"
#include "pipeline/stages/cpu_clock.h"
#include "pipeline/stages/image_preprocessor.h"
#include "pipeline/stages/shard_list.h"

namespace bench {
namespace {

enum Feature : std::size_t { kEncoded, kLabel, kXMin, kYMin, kXMax, kYMax };

std::vector<std::string> feature_names() {
  return {"image/encoded",          "image/class/label",      "image/object/bbox/xmin",
          "image/object/bbox/ymin", "image/object/bbox/xmax", "image/object/bbox/ymax"};
}

class ImagenetWorker final : public SampleWorker {
 public:
  ImagenetWorker(const InputSpec& spec, const PreprocessOptions& preprocess,
                 const DatasetOptions& options)
      : last_stage_(options.last_stage),
        use_boxes_(options.use_boxes),
        seed_(spec.seed),
        num_classes_(spec.num_classes),
        first_label_(spec.first_label),
        scanner_(feature_names()),
        preprocessor_(preprocess) {}

  SampleCost prepare(const Sample& sample, ImagePlace image, std::int32_t* label) override {
    try {
      return prepare_record(sample, image, label);
    } catch (const DataError& error) {
      const std::string& file = *sample.record.file;
      throw BadRecordError(reason_, sample.record.label != kLabelInside
                                        ? fmt::format("{}: {}", file, error.what())
                                        : fmt::format("{}, offset {}: {}", file,
                                                      sample.record.offset, error.what()));
    }
  }

 private:
  SampleCost prepare_record(const Sample& sample, ImagePlace image, std::int32_t* label) {
    SampleCost cost;
    if (last_stage_ == InputStage::read) {
      return cost;
    }
    CpuLap clock;
    const std::string_view jpeg = parse(sample.record, label);
    reason_ = BadRecord::image;
    cost.parse = clock.lap();
    if (last_stage_ == InputStage::parse) {
      return cost;
    }

    const std::int64_t warnings = preprocessor_.warnings();
    const std::int64_t seekable = preprocessor_.seekable();
    const JpegHeader header =
        preprocessor_.decode(jpeg, std::span(boxes_).first(use_boxes_ ? boxes_.size() : 0),
                             sample_random(seed_, sample, "distortion"), sample.index);
    cost.decode = clock.lap();
    cost.jpeg_warnings = preprocessor_.warnings() - warnings;
    cost.seekable = preprocessor_.seekable() > seekable;
    cost.grey = header.components == 1;
    cost.cmyk = header.components == 4;
    if (last_stage_ == InputStage::decode) {
      return cost;
    }

    std::visit([&](auto* place) { preprocessor_.pack(place); }, image);
    cost.resize = clock.lap();
    return cost;
  }

  /// Returns the JPEG; fills the label and boxes_.
  std::string_view parse(const Record& record, std::int32_t* label) {
    if (record.label != kLabelInside) {
      boxes_.clear();
      *label = record.label - first_label_;
      return record.data();
    }
    reason_ = BadRecord::checksum;
    check_data_crc(record.data(), record.masked_crc);
    reason_ = BadRecord::fields;
    scanner_.scan(record.data());
    *label = read_label();
    read_boxes();
    return read_image();
  }

  std::int32_t read_label() {
    const FeatureView& feature = scanner_.feature(kLabel);
    if (feature.kind == FeatureView::Kind::none) {
      throw DataError("image/class/label is missing");
    }
    if (feature.kind != FeatureView::Kind::ints || feature.ints.size() != 1) {
      throw DataError("image/class/label is not one integer");
    }
    const std::int64_t label = feature.ints.front();
    const std::int64_t last_label = std::int64_t{first_label_} + num_classes_ - 1;
    if (label < first_label_ || label > last_label) {
      reason_ = BadRecord::label;
      if (const std::int64_t classes = larger_network_for(label, last_label)) {
        throw DataError(fmt::format(
            "label {} is out of range; {} to {} are accepted; use --num_classes={} to accept it",
            label, first_label_, last_label, classes));
      }
      throw DataError(fmt::format("label {} is out of range; {} to {} are accepted", label,
                                  first_label_, last_label));
    }
    return static_cast<std::int32_t>(label - first_label_);
  }

  /// Returns a number of classes that accepts the label, or 0 if none does.
  static std::int64_t larger_network_for(std::int64_t label, std::int64_t last_label) {
    // A label below the first one is accepted if the background is also a class.
    const std::int64_t highest = std::max(label, last_label);
    if (label < 0 || highest >= kMostClasses) {
      return 0;
    }
    return highest + 1;
  }

  [[nodiscard]] std::string_view read_image() const {
    const FeatureView& feature = scanner_.feature(kEncoded);
    if (feature.kind == FeatureView::Kind::none) {
      throw DataError("image/encoded is missing");
    }
    if (feature.kind != FeatureView::Kind::bytes || feature.bytes.size() != 1) {
      throw DataError("image/encoded is not one byte string");
    }
    return feature.bytes.front();
  }

  /// Fills boxes_; missing features mean no boxes.
  void read_boxes() {
    boxes_.clear();
    const std::size_t count = scanner_.feature(kXMin).floats.size();
    for (const Feature key : {kXMin, kYMin, kXMax, kYMax}) {
      const FeatureView& feature = scanner_.feature(key);
      const bool fits =
          feature.kind == FeatureView::Kind::none || feature.kind == FeatureView::Kind::floats;
      if (!fits || feature.floats.size() != count) {
        throw DataError(
            "image/object/bbox: xmin, ymin, xmax and ymax must have the same number of floats");
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const RelativeBox box{.x_min = scanner_.feature(kXMin).floats[i],
                            .y_min = scanner_.feature(kYMin).floats[i],
                            .x_max = scanner_.feature(kXMax).floats[i],
                            .y_max = scanner_.feature(kYMax).floats[i]};
      const bool ordered = 0 <= box.x_min && box.x_min <= box.x_max && box.x_max <= 1 &&
                           0 <= box.y_min && box.y_min <= box.y_max && box.y_max <= 1;
      if (!ordered) {
        throw DataError(
            fmt::format("image/object/bbox: box {} has x from {:g} to {:g} and y from {:g} to "
                        "{:g}; 0 <= min <= max <= 1 is required",
                        i, box.x_min, box.x_max, box.y_min, box.y_max));
      }
      boxes_.push_back(box);
    }
  }

  /// Why the record is bad if the current step throws.
  BadRecord reason_ = BadRecord::fields;
  InputStage last_stage_;
  bool use_boxes_;
  std::uint64_t seed_;
  std::int32_t num_classes_;
  std::int32_t first_label_;
  ExampleScanner scanner_;
  ImagePreprocessor preprocessor_;
  std::vector<RelativeBox> boxes_;
};

constexpr std::int64_t kLargestSide = 65535;

void check_input(const InputSpec& spec, const DatasetOptions& options) {
  if (spec.batch <= 0 || spec.num_classes <= 0 || spec.height <= 0 || spec.width <= 0 ||
      spec.height > kLargestSide || spec.width > kLargestSide) {
    throw UsageError(
        fmt::format("imagenet input: {} images of {} x {} pixels in {} classes are not accepted; "
                    "all must be positive, and the sides at most {}",
                    spec.batch, spec.height, spec.width, spec.num_classes, kLargestSide));
  }
  check(spec.type == SlotType::f32 || spec.layout == SlotLayout::nhwc, "u8 slots must be NHWC");
  if (spec.channels != 3) {
    throw UsageError(fmt::format("imagenet images have 3 channels, not {}", spec.channels));
  }
  check(spec.type == SlotType::f32 || fits_u8_slots(options), "these options need f32 slots");
  if (options.prefetch_batches < 2 || options.interleave_cycle < 1 || options.shuffle_buffer < 1 ||
      options.num_threads < 0) {
    throw UsageError(
        fmt::format("imagenet input: {} threads, {} prefetched batches, {} interleaved files and a "
                    "shuffle buffer of {} are not accepted; the minimums are 0, 2, 1 and 1",
                    options.num_threads, options.prefetch_batches, options.interleave_cycle,
                    options.shuffle_buffer));
  }
}

int threads_to_use(int asked) { return asked > 0 ? asked : usable_processors(); }

/// Records that are read one by one need several readers, because each read takes time.
constexpr int kSingleReaders = 4;

}  // namespace

bool fits_u8_slots(const DatasetOptions& options) {
  const bool mixes_two = options.resize_method == ResizeMethod::bilinear ||
                         options.resize_method == ResizeMethod::nearest ||
                         options.resize_method == ResizeMethod::crop;
  return options.preprocessor == Preprocessor::original && mixes_two &&
         options.scaling == kSymmetric && !options.distortions;
}

std::unique_ptr<InputSource> make_imagenet_input(const InputSpec& spec,
                                                 const DatasetOptions& options,
                                                 std::shared_ptr<HostAllocator> allocator) {
  check_input(spec, options);
  const ImagenetFiles files = find_imagenet_files(spec, options);

  const PreprocessOptions preprocess{
      .output = {.width = static_cast<int>(spec.width), .height = static_cast<int>(spec.height)},
      .layout = spec.layout,
      .training = options.training,
      .preprocessor = options.preprocessor,
      .method = options.resize_method,
      .scaling = options.scaling,
      .distort_colors = options.distortions,
      .distort_in_yiq = options.distort_in_yiq,
      .dct = options.accurate_dct ? DctMethod::accurate : DctMethod::fast,
      .fused = options.fuse_decode_and_crop,
      .max_image_pixels = options.max_image_pixels};
  const auto make_worker = [&] {
    return std::make_unique<ImagenetWorker>(spec, preprocess, options);
  };
  const bool sees_all = spec.batch == spec.images_of_all();
  // A cache holds all images, because a process gets different ones in each epoch.
  const bool load_all =
      sees_all || options.use_caching || options.repeat_cached_sample || files.compressed;
  // A cache and a repeated record are made in the first epoch, wherever the run continues.
  const bool keeps_first = options.use_caching || options.repeat_cached_sample;
  const std::int64_t records = files.record_count();
  const auto make_order = [files, options, sees_all, load_all, keeps_first, records,
                           seed = spec.seed, start = spec.start](ReaderPool* readers) {
    const InputPosition first = keeps_first ? InputPosition{} : start;
    auto stream = stream_imagenet_files(
        files,
        {.seed = seed,
         .shuffle_files = options.training,
         .cycle_length = options.interleave_cycle,
         .sloppy = options.sloppy_interleave && sees_all,
         .load = load_all,
         .skip_bad_files = options.bad_records.skip,
         .readers = readers,
         .first_epoch = static_cast<std::uint64_t>(first.epoch),
         .without_bytes = files.compressed ? 0 : static_cast<std::uint64_t>(first.index)},
        options);
    // Records that are not read yet are shuffled as a whole.
    const std::int64_t shuffled =
        std::max<std::int64_t>(options.shuffle_buffer, options.use_caching ? 0 : records);
    return std::make_unique<SampleOrder>(
        std::move(stream), static_cast<std::size_t>(options.training ? shuffled : 1), seed, start);
  };
  const int usual_readers = records > 0 ? kSingleReaders : 1;
  return std::make_unique<BatchLoader>(
      LoaderOptions{.batch = spec.batch,
                    .global_batch = spec.global_batch,
                    .first_image = spec.first_image,
                    .image_elements = spec.channels * spec.height * spec.width,
                    .type = spec.type,
                    .num_threads = threads_to_use(options.num_threads),
                    .num_slots = options.prefetch_batches,
                    .num_readers = options.num_readers > 0 ? options.num_readers : usual_readers,
                    .shards = files.shards.empty() ? records : std::ssize(files.shards),
                    .shard_bytes = total_bytes(files.shards),
                    .records = records,
                    .bad_records = options.bad_records},
      make_order, make_worker, allocator != nullptr ? std::move(allocator) : make_host_allocator());
}

}  // namespace bench
