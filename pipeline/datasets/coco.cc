#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/base/default_boxes.h"
#include "models/base/errors.h"
#include "models/base/labelled_object.h"
#include "pipeline/datasets/example_fields.h"
#include "pipeline/datasets/load_samples.h"
#include "pipeline/formats/jpeg_decoder.h"
#include "pipeline/formats/tfrecord.h"
#include "pipeline/stages/color_distortion.h"
#include "pipeline/stages/cpu_clock.h"
#include "pipeline/stages/detection_crop.h"
#include "pipeline/stages/float_resize.h"
#include "pipeline/stages/shard_list.h"

namespace bench {
namespace {

/// The boxes' features are the last ones.
enum Feature : std::size_t { kEncoded, kLabels, kAreas, kCrowds, kBoxes };

std::vector<std::string> feature_names() {
  std::vector<std::string> names{"image/encoded", "image/object/class/label", "image/object/area",
                                 "image/object/is_crowd"};
  names.insert(names.end(), kBoxFeatures.begin(), kBoxFeatures.end());
  return names;
}

/// COCO's ids of its 80 classes, in order; class 1 has the first.
constexpr auto kIds = std::to_array<std::int64_t>(
    {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21,
     22, 23, 24, 25, 27, 28, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44,
     46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65,
     67, 70, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 84, 85, 86, 87, 88, 89, 90});
static_assert(kIds.size() == 80);

/// ImageNet's means and deviations, as for torchvision's networks.
constexpr PixelScaling kScaling{{{.mean = 0.485F * 255, .deviation = 0.229F * 255},
                                 {.mean = 0.456F * 255, .deviation = 0.224F * 255},
                                 {.mean = 0.406F * 255, .deviation = 0.225F * 255}}};

float between(RandomStream& random, float low, float high) {
  return low + (high - low) * random.uniform();
}

/// The ranges are those of tf_cnn_benchmarks, which changes all images of a batch alike and does
/// not clamp the values.
ColorDistortion draw_colors(RandomStream& random) {
  constexpr float kBrightness = 0.125F;
  constexpr float kFactor = 0.5F;
  constexpr float kHue = 0.05F;
  ColorDistortion colors{.contrast_last = false, .yiq = false};
  colors.brightness = between(random, -kBrightness, kBrightness);
  colors.contrast = between(random, 1 - kFactor, 1 + kFactor);
  colors.saturation = between(random, 1 - kFactor, 1 + kFactor);
  colors.hue = between(random, -kHue, kHue);
  return colors;
}

/// For training: a random part of each image, mirrored or not, with changed colours, and the
/// offsets and classes of all default boxes. For an evaluation: the whole image, its objects and
/// its size.
class CocoWorker final : public SampleWorker {
 public:
  CocoWorker(InputSpec spec, const DatasetOptions& options)
      : spec_(std::move(spec)),
        training_(options.training),
        fused_(options.fuse_decode_and_crop),
        scanner_(feature_names()),
        decoder_(options.accurate_dct ? DctMethod::accurate : DctMethod::fast,
                 options.max_image_pixels) {}

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
    CpuLap clock;
    const std::string_view jpeg = parse(sample.record);
    RandomStream random = sample_random(spec_.seed, sample, "distortion");
    const DetectionCrop crop = training_ ? sample_detection_crop(boxes_, random) : DetectionCrop{};
    const bool mirrored = training_ && random.uniform() < 0.5F;
    if (training_) {
      write_targets(crop, mirrored, place);
    }
    cost.parse = clock.lap();

    reason_ = BadRecord::image;
    const std::int64_t warnings = decoder_.warnings();
    const std::int64_t seekable = decoder_.seekable();
    const JpegHeader header = decoder_.open(jpeg);
    const ImageSize size{.width = header.width, .height = header.height};
    const PixelWindow window = pixels_of(crop.window, size);
    const RgbxView pixels = decode_window(decoder_, header, window, fused_);
    cost.decode = clock.lap();
    cost.jpeg_warnings = decoder_.warnings() - warnings;
    cost.seekable = decoder_.seekable() > seekable;
    cost.grey = header.components == 1;
    cost.cmyk = header.components == 4;

    const auto taps = [](int from, std::int64_t to) {
      const auto count = static_cast<int>(to);
      return float_taps(resize_taps({.from = from, .to = count, .begin = 0, .count = count},
                                    Interpolation::bilinear));
    };
    FloatTaps columns = taps(window.width, spec_.width);
    if (mirrored) {
      std::ranges::reverse(columns.outputs);
    }
    const std::span<float> values =
        resizer_.run(pixels, columns, taps(window.height, spec_.height));
    if (training_) {
      distort_colors(values, draw_colors(random));
    } else {
      write_objects(size, place);
    }
    pack_scaled(values, kScaling, spec_.layout, std::get<float*>(place.image));
    cost.resize = clock.lap();
    return cost;
  }

  /// Returns the JPEG; fills boxes_ and classes_.
  std::string_view parse(const Record& record) {
    reason_ = BadRecord::checksum;
    check_data_crc(record.data(), record.masked_crc);
    reason_ = BadRecord::fields;
    scanner_.scan(record.data());
    read_boxes(scanner_, kBoxes, boxes_);
    const FeatureView& labels = scanner_.feature(kLabels);
    if (labels.ints.size() != boxes_.size()) {
      throw DataError(
          fmt::format("image/object/class/label has {} integers, but there are {} boxes",
                      labels.ints.size(), boxes_.size()));
    }
    classes_.clear();
    for (const std::int64_t id : labels.ints) {
      classes_.push_back(class_of(id));
    }
    if (!training_) {
      check_objects();
    }
    return image_of(scanner_.feature(kEncoded));
  }

  void check_objects() {
    if (std::ssize(boxes_) > kMostObjects) {
      throw DataError(fmt::format("there are {} boxes; an evaluation accepts at most {}",
                                  boxes_.size(), kMostObjects));
    }
    const FeatureView& areas = scanner_.feature(kAreas);
    const FeatureView& crowds = scanner_.feature(kCrowds);
    using Kind = FeatureView::Kind;
    const bool areas_fit = areas.kind == Kind::none || areas.floats.size() == boxes_.size();
    const bool crowds_fit = crowds.kind == Kind::none || crowds.ints.size() == boxes_.size();
    if (!areas_fit || !crowds_fit) {
      throw DataError(
          fmt::format("image/object/area must have a float and image/object/is_crowd an integer "
                      "for each of the {} boxes",
                      boxes_.size()));
    }
  }

  [[nodiscard]] std::int32_t class_of(std::int64_t id) {
    const auto found = std::ranges::lower_bound(kIds, id);
    const std::int64_t number = 1 + (found - kIds.begin());
    if (found == kIds.end() || *found != id || number >= spec_.num_classes) {
      reason_ = BadRecord::label;
      throw DataError(fmt::format("class {} is not one of the {} classes of COCO", id,
                                  std::min<std::int64_t>(std::ssize(kIds), spec_.num_classes - 1)));
    }
    return static_cast<std::int32_t>(number);
  }

  void write_targets(const DetectionCrop& crop, bool mirrored, const SamplePlace& place) {
    objects_.clear();
    for (const std::size_t i : crop.objects) {
      const RelativeBox box = box_in_window(boxes_[i], crop.window);
      const auto side = [](float share) { return static_cast<double>(share); };
      objects_.push_back({.y_min = side(box.y_min),
                          .x_min = mirrored ? 1 - side(box.x_max) : side(box.x_min),
                          .y_max = side(box.y_max),
                          .x_max = mirrored ? 1 - side(box.x_min) : side(box.x_max)});
    }
    const std::vector<std::int32_t> matches = match_default_boxes(objects_);
    auto* offsets = reinterpret_cast<BoxOffsets*>(place.numbers[0]);
    auto* const classes = reinterpret_cast<std::int32_t*>(place.numbers[1]);
    for (std::size_t i = 0; i < matches.size(); ++i) {
      const bool matched = matches[i] >= 0;
      const auto object = static_cast<std::size_t>(std::max(matches[i], 0));
      offsets[i] = matched ? offsets_of(objects_[object], default_boxes()[i]) : BoxOffsets();
      classes[i] = matched ? classes_[crop.objects[object]] : 0;
    }
  }

  void write_objects(const ImageSize& size, const SamplePlace& place) {
    const LabelledImageSize sides{.height = static_cast<float>(size.height),
                                  .width = static_cast<float>(size.width)};
    *reinterpret_cast<LabelledImageSize*>(place.numbers[1]) = sides;
    auto* const objects = reinterpret_cast<LabelledObject*>(place.numbers[0]);
    std::fill_n(objects, kMostObjects, LabelledObject());
    const std::span<const float> areas = scanner_.feature(kAreas).floats;
    const std::span<const std::int64_t> crowds = scanner_.feature(kCrowds).ints;
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      LabelledObject& object = objects[i];
      object = {.y_min = boxes_[i].y_min * sides.height,
                .x_min = boxes_[i].x_min * sides.width,
                .y_max = boxes_[i].y_max * sides.height,
                .x_max = boxes_[i].x_max * sides.width,
                .category = static_cast<float>(classes_[i])};
      object.area =
          areas.empty() ? (object.y_max - object.y_min) * (object.x_max - object.x_min) : areas[i];
      object.crowd = !crowds.empty() && crowds[i] != 0 ? 1.0F : 0.0F;
    }
  }

  /// Why the record is bad if the current step throws.
  BadRecord reason_ = BadRecord::fields;
  InputSpec spec_;
  bool training_;
  bool fused_;
  ExampleScanner scanner_;
  JpegDecoder decoder_;
  FloatResizer resizer_;
  std::vector<RelativeBox> boxes_;
  std::vector<std::int32_t> classes_;
  std::vector<Box> objects_;
};

}  // namespace

void check_coco_files(const DatasetOptions& options) {
  const std::string_view prefix = shard_prefix(options.training);
  if (list_shards(options.data_dir, prefix).empty()) {
    throw UsageError(fmt::format("--data_dir={}: the folder contains no shards ({}-*-of-*)",
                                 options.data_dir, prefix));
  }
}

std::vector<std::string> list_coco_files(const DatasetOptions& options) {
  return list_shards(options.data_dir, shard_prefix(options.training));
}

std::size_t coco_record_memory(const DatasetOptions& options, bool several_processes) {
  return imagenet_record_memory(options, several_processes);
}

std::unique_ptr<InputSource> make_coco_input(const InputSpec& spec, const DatasetOptions& options,
                                             std::shared_ptr<HostAllocator> allocator) {
  check_coco_files(options);
  const Shape offsets{kDefaultBoxes, std::int64_t{std::tuple_size_v<BoxOffsets>}};
  const std::vector<ExampleInput> numbers =
      options.training
          ? std::vector<ExampleInput>{{.name = {}, .dtype = DType::f32, .shape = offsets},
                                      {.name = {}, .dtype = DType::s32, .shape = {kDefaultBoxes}}}
          : labelled_object_inputs();
  check(spec.type == SlotType::f32 && spec.channels == 3 &&
            std::ranges::equal(spec.numbers, numbers,
                               [](const ExampleInput& a, const ExampleInput& b) {
                                 return a.dtype == b.dtype && a.shape == b.shape;
                               }),
        "coco has images in f32, and the targets of all default boxes or labelled objects");
  return load_samples(
      spec, options, find_imagenet_files(spec, options),
      [&] { return std::make_unique<CocoWorker>(spec, options); }, std::move(allocator));
}

}  // namespace bench
