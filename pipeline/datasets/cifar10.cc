#include <algorithm>
#include <array>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "models/base/errors.h"
#include "models/base/normalization.h"
#include "models/base/threads.h"
#include "pipeline/datasets/cifar10_files.h"
#include "pipeline/input.h"
#include "pipeline/stages/batch_loader.h"
#include "pipeline/stages/cpu_clock.h"
#include "pipeline/stages/shard_list.h"

namespace bench {
namespace {

constexpr std::int64_t kSide = kCifarSide;
constexpr std::int64_t kChannels = kCifarChannels;
constexpr std::int64_t kPlane = kSide * kSide;
/// The width of the zero padding on each side; distorted images are shifted within it.
constexpr std::int64_t kPad = 4;

/// The image's position in the padded one, and whether it is mirrored.
struct Distortion {
  std::int64_t down = kPad;
  std::int64_t right = kPad;
  bool flip = false;
};

class Cifar10Worker final : public SampleWorker {
 public:
  Cifar10Worker(InputSpec spec, bool distort) : spec_(std::move(spec)), distort_(distort) {}

  SampleCost prepare(const Sample& sample, const SamplePlace& place) override {
    SampleCost cost;
    CpuLap clock;
    const std::string_view data = sample.record.data();
    *place.label = read_label(sample.record);
    cost.parse = clock.lap();
    const Distortion distortion = distort_ ? draw(sample) : Distortion{};
    std::visit([&](auto* image) { write(data.substr(1), distortion, image); }, place.image);
    cost.resize = clock.lap();
    return cost;
  }

 private:
  [[nodiscard]] std::int32_t read_label(const Record& record) const {
    const std::int32_t label = static_cast<unsigned char>(record.data().front());
    if (label < spec_.first_label || label - spec_.first_label >= spec_.num_classes) {
      throw BadRecordError(
          BadRecord::label,
          fmt::format("{}, offset {}: label {} is out of range; {} to {} are accepted; CIFAR-10 "
                      "labels are 0 to 9",
                      *record.file, record.offset, label, spec_.first_label,
                      spec_.first_label + spec_.num_classes - 1));
    }
    return label - spec_.first_label;
  }

  [[nodiscard]] Distortion draw(const Sample& sample) const {
    RandomStream random = sample_random(spec_.seed, sample, "distortion");
    Distortion distortion;
    distortion.down = random.below(2 * kPad + 1);
    distortion.right = random.below(2 * kPad + 1);
    distortion.flip = random.below(2) == 1;
    return distortion;
  }

  static void store(std::uint8_t pixel, float& value) {
    constexpr Normalization kRange;
    value = static_cast<float>(pixel) / kRange.deviation - kRange.mean / kRange.deviation;
  }
  static void store(std::uint8_t pixel, std::uint8_t& value) { value = pixel; }

  template <class T>
  void write(std::string_view planes, const Distortion& distortion, T* image) const {
    const bool nhwc = spec_.layout == SlotLayout::nhwc;
    const std::int64_t pixel_step = nhwc ? kChannels : 1;
    const std::int64_t channel_step = nhwc ? 1 : kPlane;
    for (std::int64_t c = 0; c < kChannels; ++c) {
      for (std::int64_t y = 0; y < kSide; ++y) {
        for (std::int64_t x = 0; x < kSide; ++x) {
          const std::int64_t from_y = y + distortion.down - kPad;
          const std::int64_t from_x =
              (distortion.flip ? kSide - 1 - x : x) + distortion.right - kPad;
          const bool inside = 0 <= from_y && from_y < kSide && 0 <= from_x && from_x < kSide;
          const auto place = static_cast<std::size_t>(c * kPlane + from_y * kSide + from_x);
          store(inside ? static_cast<std::uint8_t>(planes[place]) : std::uint8_t{0},
                image[c * channel_step + (y * kSide + x) * pixel_step]);
        }
      }
    }
  }

  InputSpec spec_;
  bool distort_;
};

void check_input(const InputSpec& spec, const DatasetOptions& options) {
  check(spec.type == SlotType::f32 || spec.layout == SlotLayout::nhwc, "u8 slots must be NHWC");
  if (spec.channels != kChannels || spec.height != kSide || spec.width != kSide) {
    throw UsageError(
        fmt::format("cifar10 images are {} x {} pixels with {} channels, not {} x {} with {}",
                    kSide, kSide, kChannels, spec.height, spec.width, spec.channels));
  }
  if (spec.batch <= 0 || spec.num_classes <= 0 || options.prefetch_batches < 2 ||
      options.num_threads < 0) {
    throw UsageError(
        fmt::format("cifar10 input: {} images, {} classes, {} threads and {} prefetched batches "
                    "are not accepted; the minimums are 1, 1, 0 and 2",
                    spec.batch, spec.num_classes, options.num_threads, options.prefetch_batches));
  }
}

}  // namespace

void check_cifar10_files(const DatasetOptions& options) {
  find_cifar10_files(options.data_dir, options.training);
}

std::vector<std::string> list_cifar10_files(const DatasetOptions& options) {
  return find_cifar10_files(options.data_dir, options.training);
}

std::size_t cifar10_record_memory(const DatasetOptions& options, bool /*several_processes*/) {
  return total_bytes(find_cifar10_files(options.data_dir, options.training));
}

std::unique_ptr<InputSource> make_cifar10_input(const InputSpec& spec,
                                                const DatasetOptions& options,
                                                std::shared_ptr<HostAllocator> allocator) {
  check_input(spec, options);
  const auto files = find_cifar10_files(options.data_dir, options.training);
  const auto records = std::make_shared<const std::vector<Record>>(read_cifar10_records(files));
  const bool distort = options.training && options.distortions;
  const auto make_worker = [&] { return std::make_unique<Cifar10Worker>(spec, distort); };
  const auto make_order = [records, options, seed = spec.seed, start = spec.start](ReaderPool*) {
    std::unique_ptr<RecordStream> stream = stream_records(records);
    if (options.repeat_cached_sample) {
      stream = repeat_first_record(std::move(stream));
    }
    // The records are already in memory, so each epoch is shuffled as a whole.
    const std::size_t capacity = options.training ? records->size() : 1;
    return std::make_unique<SampleOrder>(std::move(stream), capacity, seed, start);
  };
  const int available = usable_processors();
  return std::make_unique<BatchLoader>(
      LoaderOptions{.batch = spec.batch,
                    .global_batch = spec.global_batch,
                    .first_image = spec.first_image,
                    .image_elements = kChannels * kPlane,
                    .type = spec.type,
                    .num_threads = options.num_threads > 0 ? options.num_threads : available,
                    .num_slots = options.prefetch_batches,
                    .shards = static_cast<std::int64_t>(files.size()),
                    .shard_bytes = total_bytes(files),
                    .records = std::ssize(*records),
                    .bad_records = options.bad_records},
      make_order, make_worker, allocator != nullptr ? std::move(allocator) : make_host_allocator());
}

}  // namespace bench
