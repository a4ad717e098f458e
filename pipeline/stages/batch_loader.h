#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <variant>
#include <vector>

#include "pipeline/host_allocator.h"
#include "pipeline/input.h"
#include "pipeline/stages/reader_pool.h"
#include "pipeline/stages/sample_order.h"
#include "pipeline/stages/task_queue.h"

namespace bench {

/// The time that preparing one sample took, and what was found in it.
struct SampleCost {
  std::chrono::nanoseconds parse{};
  std::chrono::nanoseconds decode{};
  std::chrono::nanoseconds resize{};
  std::int64_t jpeg_warnings = 0;
  bool seekable = false;
  bool grey = false;
  bool cmyk = false;
};

/// The destination of one image in a slot, in the slot's type.
using ImagePlace = std::variant<float*, std::uint8_t*>;

/// Where a sample is written.
struct SamplePlace {
  ImagePlace image;
  /// Null if the loader has other numbers.
  std::int32_t* label = nullptr;
  /// The example's numbers, in the order of LoaderOptions::numbers.
  std::span<std::byte* const> numbers = {};
};

/// Turns samples into images. Each worker thread has its own instance; the result depends only on
/// the sample.
class SampleWorker {
 public:
  virtual ~SampleWorker() = default;
  /// Writes the whole image and its label or numbers. Throws BadRecordError with file, offset and
  /// reason.
  virtual SampleCost prepare(const Sample& sample, const SamplePlace& place) = 0;
};

struct LoaderOptions {
  std::int64_t batch = 0;
  /// The images of all processes, of which `batch` from `first_image` on are loaded. 0: `batch`.
  std::int64_t global_batch = 0;
  std::int64_t first_image = 0;
  std::int64_t image_elements = 0;
  SlotType type = SlotType::f32;
  /// InputSpec::numbers; if empty, each image has a label.
  std::vector<ExampleInput> numbers = {};
  int num_threads = 1;
  int num_slots = 3;
  /// Threads that read files; 1: the reading thread alone, which otherwise uses that many others.
  int num_readers = 1;
  std::int64_t shards = 0;        ///< for the statistics
  std::uint64_t shard_bytes = 0;  ///< for the statistics
  std::int64_t records = 0;       ///< for the statistics; 0: not known
  BadRecordPolicy bad_records = {};
};

/// Fills a ring of batch slots. One thread reads (alone or through a pool of readers) and orders;
/// workers write each image straight into its place: image i of the stream goes to slot i / batch,
/// row i % batch. The order therefore needs no buffer and does not depend on the number of threads.
/// An error belongs to the batch of its image and is thrown when that batch is requested.
///
/// Bad records may be skipped. When a batch is complete, each of them gets a copy of the nearest
/// good image, preferably an earlier one. So the contents of a batch do not depend on the threads.
///
/// With several processes, all draw the same order, and each counts and loads only its own images.
class BatchLoader final : public InputSource {
 public:
  /// The pool reads files for the order; null without one.
  using MakeOrder = std::function<std::unique_ptr<SampleOrder>(ReaderPool*)>;
  using MakeWorker = std::function<std::unique_ptr<SampleWorker>()>;

  /// Starts the threads. The reading thread calls `make_order` once and destroys the order when it
  /// ends. It may outlive the loader, so neither may use anything that can be destroyed earlier.
  BatchLoader(const LoaderOptions& options, MakeOrder make_order, const MakeWorker& make_worker,
              const std::shared_ptr<HostAllocator>& allocator);
  ~BatchLoader() override;
  BatchLoader(BatchLoader&&) = delete;
  BatchLoader& operator=(BatchLoader&&) = delete;

  InputBatch next() override;
  void release() override;
  bool ready_within(std::chrono::nanoseconds time) override;
  [[nodiscard]] InputStatistics statistics() const override;

 private:
  struct Slot {
    /// Elements of the slots' type.
    HostArray<std::byte> images;
    HostArray<std::int32_t> labels;
    /// By input.
    std::vector<HostArray<std::byte>> numbers;
    std::vector<BatchNumbers> batch_numbers;
    std::vector<std::int64_t> epochs;
    std::int64_t filled = 0;
    std::int64_t epoch = 0;  ///< of its last image
    InputPosition following = {};
    std::exception_ptr error;
    std::int64_t error_row = 0;
    /// By row: records that are skipped.
    std::map<std::int64_t, BadRecordError> bad;
  };
  /// Ends all threads and waits for them, but only briefly for a reading thread that a disk stalls.
  void stop();
  void work(SampleWorker& worker);
  /// These require the locked mutex.
  void release_last();
  /// Copies good images of the slot to the rows of its bad records.
  void replace_bad(Slot& slot) const;
  /// Counts the slot's bad records. The slot gets an error if they are too many.
  void count_bad(Slot& slot);
  void complete(const SampleTask& task, const SampleCost& cost, const ThreadTimes& times,
                std::exception_ptr error);
  /// True if next() need not wait.
  [[nodiscard]] bool is_ready() { return slot_of(next_batch_).filled == options_.batch; }
  [[nodiscard]] Slot& slot_of(std::int64_t batch_index);
  [[nodiscard]] ImagePlace place_of(const Slot& slot, std::int64_t row) const;
  [[nodiscard]] Slot make_slot(const std::shared_ptr<HostAllocator>& allocator) const;

  LoaderOptions options_;
  std::vector<Slot> slots_;
  std::shared_ptr<TaskQueue> queue_;

  mutable std::mutex mutex_;
  std::condition_variable complete_;  ///< wakes the consumer: a batch is complete
  std::int64_t next_batch_ = 0;       ///< the batch that next() returns next
  std::int64_t released_ = 0;         ///< batches whose slots may be filled again
  InputStatistics statistics_;

  std::vector<std::unique_ptr<SampleWorker>> workers_;
  /// Uses no part of the loader except the queue.
  std::jthread reading_;
  std::vector<std::jthread> threads_;  // last: they use all of the above
};

}  // namespace bench
