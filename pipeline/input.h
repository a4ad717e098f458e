#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "models/base/content_id.h"
#include "models/base/watch.h"
#include "pipeline/host_allocator.h"

namespace bench {

/// Order of the axes of a batch of images, outermost first.
enum class SlotLayout : std::uint8_t { nchw, nhwc };

/// What a slot holds of each channel of each pixel.
enum class SlotType : std::uint8_t {
  /// Normalised (models/base/normalization.h), as tf_cnn_benchmarks computes it.
  f32,
  /// From 0 to 255, not normalised: rounded to nearest, ties to even, which after a resize moves it
  /// by at most half of 1. In SlotLayout::nhwc alone.
  u8,
};

/// The most classes a network may have, as --num_classes accepts them.
inline constexpr std::int64_t kMostClasses = 1 << 24;

/// What a batch looks like.
struct InputSpec {
  std::int64_t batch = 0;
  std::int64_t channels = 3;
  std::int64_t height = 0;
  std::int64_t width = 0;
  SlotLayout layout = SlotLayout::nchw;
  SlotType type = SlotType::f32;
  std::int32_t num_classes = 0;  ///< labels are 0 .. num_classes - 1
  std::int32_t first_label = 0;  ///< of a dataset's file; it becomes label 0
  std::uint64_t seed = 0;
};

/// One filled batch: images of the spec's type, batch x channels x height x width in its layout;
/// labels: batch.
struct InputBatch {
  /// In f32; null where the slots are u8.
  const float* images = nullptr;
  /// In u8; null where the slots are f32.
  const std::uint8_t* pixels = nullptr;
  const std::int32_t* labels = nullptr;
  /// Of the images, or pixels, where the source keeps them from one batch to the next.
  ContentId content = {};
  /// How often all images had been handed out before the last of these; from 1 on some of them may
  /// not be new.
  std::int64_t epoch = 0;
};

/// What the pipeline did so far. Busy times are processor time, summed over the threads.
struct InputStatistics {
  std::int64_t images_delivered = 0;         ///< handed out by next()
  std::int64_t images_prepared = 0;          ///< filled into slots, delivered or not
  std::int64_t epoch = 0;                    ///< of the last prepared image, from 0
  std::chrono::nanoseconds consumer_wait{};  ///< wall time spent inside next(), in total
  std::chrono::nanoseconds read_busy{};      ///< reading, order, length checksums
  std::chrono::nanoseconds parse_busy{};     ///< data checksums and Example scan
  std::chrono::nanoseconds decode_busy{};    ///< JPEG
  std::chrono::nanoseconds resize_busy{};    ///< resize, normalise, pack
  std::uint64_t record_bytes = 0;            ///< payload of the prepared records
  std::int64_t jpeg_warnings = 0;            ///< oddities that libjpeg decoded all the same
  std::int64_t grey_images = 0;              ///< expanded to colour
  std::int64_t cmyk_images = 0;              ///< converted to RGB
  int threads = 0;                           ///< that prepare images
  std::int64_t shards = 0;                   ///< files of the dataset; 0 for synthetic images
  std::uint64_t shard_bytes = 0;             ///< their size when they were opened
  std::int64_t records = 0;                  ///< images of the dataset; 0: not counted
};

/// An endless stream of batches. One thread at a time may call it. Its end does not wait for a disk
/// that is stalled.
class InputSource {
 public:
  virtual ~InputSource() = default;
  /// Acquires the next batch, for all towers; waits until it is full. Releases the batch acquired
  /// before. Throws DataError (file, offset, reason), the same for each thread count, and again on
  /// each further call.
  virtual InputBatch next() = 0;
  /// The batch acquired last, where it is not released yet, may be written again: every copy of it
  /// has to be done. For who then waits for the next one, so that its place is filled meanwhile.
  virtual void release() {}
  /// Whether next() need not wait for other threads, at most so much later. Releases nothing.
  virtual bool ready_within(std::chrono::nanoseconds /*time*/) { return true; }
  [[nodiscard]] virtual InputStatistics statistics() const = 0;
};

/// Images drawn once (truncated normal, mean 127, standard deviation 60, cut at two deviations),
/// labels drawn afresh for each batch, uniform in [0, num_classes - 2]. The numbers depend on the
/// seed only; one seed gives the same images in either layout. Without an allocator, ordinary
/// memory. `watch` hears of the images' rows as they are drawn. Throws UsageError when a size is
/// not positive or num_classes < 2.
std::unique_ptr<InputSource> make_synthetic_input(
    const InputSpec& spec, std::shared_ptr<HostAllocator> allocator = nullptr,
    const Watch& watch = {});

/// The batches of a safetensors file, in order and from the beginning again: `images` (k * batch x
/// channels x height x width, a floating type), taken as they are, and `labels` (k * batch, I64 or
/// I32). One batch is in memory at a time. Throws UsageError or DataError (file, reason) when the
/// file cannot be read, or its sizes or labels do not fit the spec.
std::unique_ptr<InputSource> make_tensor_file_input(
    const InputSpec& spec, const std::string& path,
    std::shared_ptr<HostAllocator> allocator = nullptr);

/// How an image gets the network's size.
enum class ResizeMethod : std::uint8_t { bilinear, nearest, bicubic, area, round_robin, crop };

/// From its flag value; throws UsageError naming the values there are.
ResizeMethod resize_method_from(std::string_view name);

struct DatasetOptions {
  std::string data_dir;
  bool training = true;  ///< training subset, shuffled, distorted; else validation subset, in order
  ResizeMethod resize_method = ResizeMethod::bilinear;
  bool fuse_decode_and_crop = true;  ///< false: training decodes with the fast DCT, as the original
  int num_threads = 0;               ///< that prepare images; 0: as many as the process may use
  int prefetch_batches = 3;          ///< slots of the ring, at least 2
  int interleave_cycle = 10;         ///< files read side by side
  int shuffle_buffer = 10000;        ///< records; they are held in memory
  bool use_caching = false;          ///< keep all records in memory after the first epoch
  bool repeat_cached_sample = false;  ///< the first record for ever
  bool distortions = false;           ///< CIFAR-10, training: shift within zeros, and flip
};

/// Opens a dataset of ImageNet-format TFRecords. Throws UsageError when the folder or the files are
/// missing, when a method is not built yet, or when the spec does not fit. Returns at once; reading
/// begins on the source's own threads.
std::unique_ptr<InputSource> make_imagenet_input(
    const InputSpec& spec, const DatasetOptions& options,
    std::shared_ptr<HostAllocator> allocator = nullptr);

/// Opens CIFAR-10's binary version: data_batch_*.bin, or test_batch.bin for the validation subset.
/// Images are 32 x 32 pixels; all files are read here and held in memory. Throws UsageError when
/// the folder or the files are missing or the spec does not fit, and DataError for a file that is
/// not a whole number of records.
std::unique_ptr<InputSource> make_cifar10_input(const InputSpec& spec,
                                                const DatasetOptions& options,
                                                std::shared_ptr<HostAllocator> allocator = nullptr);

}  // namespace bench
