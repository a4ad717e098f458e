#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/content_id.h"
#include "models/base/example_input.h"
#include "models/base/normalization.h"
#include "models/base/watch.h"
#include "pipeline/bad_records.h"
#include "pipeline/host_allocator.h"

namespace bench {

/// Order of the axes of a batch of images, outermost first.
enum class SlotLayout : std::uint8_t { nchw, nhwc };

/// The element type of a slot, which holds one element per channel of each pixel.
enum class SlotType : std::uint8_t {
  /// Normalised (models/base/normalization.h), as tf_cnn_benchmarks computes it.
  f32,
  /// 0 to 255, not normalised. A resized value is rounded to nearest, ties to even, which changes
  /// it by at most 0.5. Only in SlotLayout::nhwc.
  u8,
};

/// The largest number of classes that --num_classes accepts.
inline constexpr std::int64_t kMostClasses = 1 << 24;

/// The place in the stream of all processes' images where an interrupted run continues.
struct InputPosition {
  /// Counts from 0. Synthetic images have one endless epoch.
  std::int64_t epoch = 0;
  /// The images of this epoch before the place. If they exceed the epoch, the place is in a later
  /// one.
  std::int64_t index = 0;

  bool operator==(const InputPosition&) const = default;
};

/// The shape, types, labels and seed of the batches.
struct InputSpec {
  std::int64_t batch = 0;
  /// The images of all processes, of which this one has `batch` images from `first_image` on. 0: it
  /// has all.
  std::int64_t global_batch = 0;
  std::int64_t first_image = 0;
  std::int64_t channels = 3;
  std::int64_t height = 0;
  std::int64_t width = 0;
  SlotLayout layout = SlotLayout::nchw;
  SlotType type = SlotType::f32;
  std::int32_t num_classes = 0;  ///< labels are 0 .. num_classes - 1
  std::int32_t first_label = 0;  ///< the label in the files that becomes label 0
  /// The inputs of an example, s32 or f32, besides an image if `height` is above 0; empty: it has
  /// an image and a label.
  std::vector<ExampleInput> numbers = {};
  std::uint64_t seed = 0;
  InputPosition start = {};  ///< of the first batch

  [[nodiscard]] std::int64_t images_of_all() const { return std::max(batch, global_batch); }
};

/// In InputBatch::epochs: the record was bad, and the image is a copy of another one.
inline constexpr std::int64_t kBadImage = -1;

/// The numbers of a batch for one input of the network.
struct BatchNumbers {
  std::string_view input;
  /// s32 or f32, the type of `values`.
  DType dtype = DType::s32;
  const void* values = nullptr;
  std::size_t per_example = 0;
  /// Identifies the values if the source keeps them from one batch to the next.
  ContentId content = {};

  /// Those of `examples` examples from the example `first` on.
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t first, std::size_t examples) const {
    const std::size_t size = per_example * size_of(dtype);
    return {static_cast<const std::byte*>(values) + first * size, examples * size};
  }
};

/// One filled batch. The images have the spec's type and layout, and batch x channels x height x
/// width elements. There are `batch` labels, or the numbers of InputSpec::numbers.
struct InputBatch {
  /// f32 images; null if the slots are u8, or without images.
  const float* images = nullptr;
  /// u8 images; null if the slots are f32, or without images.
  const std::uint8_t* pixels = nullptr;
  const std::int32_t* labels = nullptr;
  /// In the order of InputSpec::numbers.
  std::span<const BatchNumbers> numbers = {};
  /// Identifies the images or pixels if the source keeps them from one batch to the next.
  ContentId content = {};
  /// Number of complete passes over the images before the last image of this batch. From 1 on, some
  /// images may be repeats.
  std::int64_t epoch = 0;
  /// The same for each image, or kBadImage; null for images that are not from a dataset.
  const std::int64_t* epochs = nullptr;
  /// The place of the next batch.
  InputPosition following = {};

  [[nodiscard]] bool has_images() const { return images != nullptr || pixels != nullptr; }
};

/// How threads spent their time, summed over the threads.
struct ThreadTimes {
  /// Wall time of their work, which includes waits for storage.
  std::chrono::nanoseconds work{};
  std::chrono::nanoseconds processor{};
  /// They could run but no processor was free, during work or after a wait.
  std::chrono::nanoseconds delayed{};
  /// Wall time in which they waited for other threads.
  std::chrono::nanoseconds waited{};

  ThreadTimes& operator+=(const ThreadTimes& other);
};

/// What the pipeline has done so far. Busy times are processor time, summed over the threads.
struct InputStatistics {
  std::int64_t images_delivered = 0;         ///< handed out by next()
  std::int64_t images_prepared = 0;          ///< filled into slots, delivered or not
  std::int64_t epoch = 0;                    ///< of the last prepared image, from 0
  std::chrono::nanoseconds consumer_wait{};  ///< wall time spent inside next(), in total
  std::chrono::nanoseconds parse_busy{};     ///< data checksums and Example scan
  std::chrono::nanoseconds decode_busy{};    ///< JPEG
  std::chrono::nanoseconds resize_busy{};    ///< resize, normalise, pack
  /// Reading, order, length checksums: one thread. With several readers, it waits for them.
  ThreadTimes reading{};
  ThreadTimes readers_work{};          ///< several readers, in total
  ThreadTimes preparing{};             ///< parse, decode and resize: `threads` threads
  std::chrono::nanoseconds process{};  ///< processor time of the whole process
  std::uint64_t record_bytes = 0;      ///< payload of the prepared records
  /// What this process read from storage, not from the page cache; nothing if the kernel does not
  /// count it. Some network file systems do not count.
  std::optional<std::uint64_t> storage_bytes{};
  std::int64_t jpeg_warnings = 0;    ///< defects that libjpeg reported but decoded
  std::int64_t seekable_images = 0;  ///< restart markers allow partial decoding
  std::int64_t grey_images = 0;      ///< expanded to colour
  std::int64_t cmyk_images = 0;      ///< converted to RGB
  BadRecordCounts bad_records{};     ///< skipped in the delivered batches, in total
  int threads = 0;                   ///< threads that prepare images
  int readers = 1;                   ///< threads that read files
  std::int64_t shards = 0;           ///< files of the dataset; 0 for synthetic images
  std::uint64_t shard_bytes = 0;     ///< their total size when they were opened
  std::int64_t records = 0;          ///< images in the dataset; 0: not counted

  /// The share of the prepared images that were seekable JPEGs: 0 to 1.
  [[nodiscard]] double seekable_share() const;

  /// What was done since `before`. What is not a sum keeps its last value.
  [[nodiscard]] InputStatistics since(const InputStatistics& before) const;
};

/// An endless stream of batches. Only one thread at a time may call it. The destructor does not
/// wait for a stalled disk.
class InputSource {
 public:
  virtual ~InputSource() = default;
  /// Releases the previous batch and acquires the next one, for all towers. Waits until it is full.
  /// Throws DataError (file, offset, reason), the same for every thread count, and throws it again
  /// on each further call.
  virtual InputBatch next() = 0;
  /// Releases the batch acquired last, if it is still held, so that its slot is refilled while the
  /// caller waits for the next batch. All copies of the batch must be complete.
  virtual void release() {}
  /// Returns true if next() need not wait for other threads; waits for that at most `time`.
  /// Releases nothing.
  virtual bool ready_within(std::chrono::nanoseconds /*time*/) { return true; }
  [[nodiscard]] virtual InputStatistics statistics() const = 0;
};

/// Synthetic examples. Images are drawn once from a normal distribution with mean 127 and standard
/// deviation 60, truncated at two deviations. Labels are drawn for each batch, uniform in [0,
/// num_classes - 2]. The spec's numbers are drawn as ExampleInput describes. All depend only on the
/// seed; one seed gives the same images in either layout. The default allocator provides ordinary
/// memory. `watch` receives the progress in rows of images, or in examples of real numbers. Throws
/// UsageError if a size is not positive or num_classes < 2.
std::unique_ptr<InputSource> make_synthetic_input(
    const InputSpec& spec, std::shared_ptr<HostAllocator> allocator = nullptr,
    const Watch& watch = {});

/// The batches of a safetensors file, in order, repeated from the beginning. `images` (k * b x
/// channels x height x width, a floating type, b images of all processes) are used as they are.
/// `labels` has k * b elements of I64 or I32. One batch is in memory at a time. Throws UsageError
/// or DataError (file, reason) if the file cannot be read, or if its sizes or labels do not fit the
/// spec.
std::unique_ptr<InputSource> make_tensor_file_input(
    const InputSpec& spec, const std::string& path,
    std::shared_ptr<HostAllocator> allocator = nullptr);

/// How an image is resized to the network's input size.
enum class ResizeMethod : std::uint8_t { bilinear, nearest, bicubic, area, round_robin, crop };

/// The flag's value.
std::string_view name_of(ResizeMethod method);
/// Parses the flag's value; throws UsageError that lists the accepted values.
ResizeMethod resize_method_from(std::string_view name);

/// How ImageNet's images become a network's input.
enum class Preprocessor : std::uint8_t {
  original,  ///< The same as in tf_cnn_benchmarks.
  /// Torchvision's evaluation: an antialiased resize of the shorter side to 256/224 of the
  /// network's size, the centre, and a mean and a deviation per channel. Only for f32 slots.
  torchvision,
  torchvision_bicubic,  ///< The same with a bicubic instead of a bilinear resize.
  /// TensorFlow's official ResNet: bilinear, evaluation resizes the shorter side to 256 pixels.
  official,
};

/// How the values of red, green and blue become a network's input.
using PixelScaling = std::array<Normalization, 3>;
/// From -1 to 1.
inline constexpr PixelScaling kSymmetric{{Normalization(), Normalization(), Normalization()}};
/// Subtracts ImageNet's means, as MLPerf and the official models do.
inline constexpr PixelScaling kImagenetMeans{{{.mean = 123.68F, .deviation = 1},
                                              {.mean = 116.78F, .deviation = 1},
                                              {.mean = 103.94F, .deviation = 1}}};

/// The stages of an image, in order.
enum class InputStage : std::uint8_t { read, parse, decode, resize };
std::string_view name_of(InputStage stage);

struct DatasetOptions {
  std::string data_dir;
  bool training = true;  ///< training subset, shuffled, distorted; else validation subset, in order
  Preprocessor preprocessor = Preprocessor::original;
  /// For Preprocessor::original. All but bilinear, nearest and crop need f32 slots.
  ResizeMethod resize_method = ResizeMethod::bilinear;
  /// ImageNet, for Preprocessor::original. All but the default need f32 slots.
  PixelScaling scaling = kSymmetric;
  bool use_boxes = true;             ///< ImageNet, training: false: ignore bounding boxes
  bool fuse_decode_and_crop = true;  ///< false: decode whole images; the pixels are the same
  bool accurate_dct = false;         ///< a slower DCT than that of TensorFlow
  /// ImageNet: the last stage that runs, to measure stages. The images are undefined unless all
  /// run.
  InputStage last_stage = InputStage::resize;
  int num_threads = 0;       ///< threads that prepare images; 0: one per available processor
  int prefetch_batches = 3;  ///< slots of the ring, at least 2
  /// ImageNet: a folder with an index of each shard (formats/record_index.h). Records are then read
  /// one by one, and training shuffles all of them in each epoch, unless it uses a cache.
  std::string index_dir = {};
  int interleave_cycle = 10;  ///< files read side by side
  /// Shards: do not wait for files whose next record is not ready, so that runs differ. Ignored for
  /// batches of several processes, and without several readers.
  bool sloppy_interleave = false;
  int num_readers = 0;         ///< threads that read; 0: 1 for shards, 4 with indexes or for images
  int shuffle_buffer = 10000;  ///< records, held in memory
  bool use_caching = false;    ///< keep all records in memory after the first epoch
  bool repeat_cached_sample = false;  ///< repeat the first record forever
  /// Training. CIFAR-10: shift within zeros, and flip. ImageNet: change colours; needs f32 slots.
  bool distortions = false;
  bool distort_in_yiq = true;  ///< ImageNet: false: in HSV
  BadRecordPolicy bad_records = {};
  /// ImageNet: images with more pixels are refused. Without it: those of JpegDecoder.
  std::optional<std::int64_t> max_image_pixels = {};
};

/// True if the images of these options can be written to u8 slots, which the device normalizes.
bool fits_u8_slots(const DatasetOptions& options);

/// Opens a dataset of ImageNet-format TFRecords, or of JPEGs in a folder per class. Throws
/// UsageError if the folder or the files are missing, or the spec does not fit. Reads indexes here
/// and throws DataError if they are damaged. Other reading begins on the source's own threads.
std::unique_ptr<InputSource> make_imagenet_input(
    const InputSpec& spec, const DatasetOptions& options,
    std::shared_ptr<HostAllocator> allocator = nullptr);

/// Opens CIFAR-10, in its binary or its Python version (datasets/cifar10_files.h). Images are 32 x
/// 32 pixels. Reads all files here and holds them in memory. Throws UsageError if the folder or the
/// files are missing or the spec does not fit. Throws DataError if a file is damaged.
std::unique_ptr<InputSource> make_cifar10_input(const InputSpec& spec,
                                                const DatasetOptions& options,
                                                std::shared_ptr<HostAllocator> allocator = nullptr);

}  // namespace bench
