#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/base/errors.h"
#include "pipeline/datasets/example_fields.h"
#include "pipeline/datasets/imagenet_files.h"
#include "pipeline/datasets/load_samples.h"
#include "pipeline/formats/example_scanner.h"
#include "pipeline/formats/tfrecord.h"
#include "pipeline/input.h"
#include "pipeline/stages/cpu_clock.h"
#include "pipeline/stages/image_preprocessor.h"

namespace bench {
namespace {

/// The boxes' features are the last ones.
enum Feature : std::size_t { kEncoded, kLabel, kBoxes };

std::vector<std::string> feature_names() {
  std::vector<std::string> names{"image/encoded", "image/class/label"};
  names.insert(names.end(), kBoxFeatures.begin(), kBoxFeatures.end());
  return names;
}

class ImagenetWorker final : public SampleWorker {
 public:
  ImagenetWorker(const InputSpec& spec, const PreprocessOptions& preprocess,
                 const DatasetOptions& options)
      : last_stage_(options.last_stage),
        use_boxes_(options.use_boxes && options.training),
        seed_(spec.seed),
        num_classes_(spec.num_classes),
        first_label_(spec.first_label),
        scanner_(feature_names()),
        preprocessor_(preprocess) {}

  SampleCost prepare(const Sample& sample, const SamplePlace& place) override {
    try {
      return prepare_record(sample, place);
    } catch (const DataError& error) {
      throw bad_record(sample.record, reason_, error);
    }
  }

 private:
  SampleCost prepare_record(const Sample& sample, const SamplePlace& place) {
    SampleCost cost;
    if (last_stage_ == InputStage::read) {
      return cost;
    }
    CpuLap clock;
    const std::string_view jpeg = parse(sample.record, place.label);
    reason_ = BadRecord::image;
    cost.parse = clock.lap();
    if (last_stage_ == InputStage::parse) {
      return cost;
    }

    const std::int64_t warnings = preprocessor_.warnings();
    const std::int64_t seekable = preprocessor_.seekable();
    const JpegHeader header = preprocessor_.decode(
        jpeg, boxes_, sample_random(seed_, sample, "distortion"), sample.index);
    cost.decode = clock.lap();
    cost.jpeg_warnings = preprocessor_.warnings() - warnings;
    cost.seekable = preprocessor_.seekable() > seekable;
    cost.grey = header.components == 1;
    cost.cmyk = header.components == 4;
    if (last_stage_ == InputStage::decode) {
      return cost;
    }

    std::visit([&](auto* image) { preprocessor_.pack(image); }, place.image);
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
    if (use_boxes_) {
      read_boxes(scanner_, kBoxes, boxes_);
    }
    return image_of(scanner_.feature(kEncoded));
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
  return load_samples(
      spec, options, files,
      [&] { return std::make_unique<ImagenetWorker>(spec, preprocess, options); },
      std::move(allocator));
}

}  // namespace bench
