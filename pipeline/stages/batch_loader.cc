#include "pipeline/stages/batch_loader.h"

#include <algorithm>
#include <utility>

#include "models/base/errors.h"
#include "models/base/threads.h"
#include "pipeline/stages/cpu_clock.h"

namespace bench {
namespace {

/// How long the destructor waits for a read in progress.
constexpr std::chrono::milliseconds kReadPatience{500};

/// The images of each batch of all processes that this process loads.
struct OwnRows {
  std::int64_t all = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;

  [[nodiscard]] bool contain(std::int64_t image) const {
    const std::int64_t row = image % all;
    return first <= row && row < first + count;
  }
};

void read_samples(TaskQueue& queue, const BatchLoader::MakeOrder& make_order, const OwnRows& own) {
  ThreadClock clock;
  std::unique_ptr<SampleOrder> order;
  std::int64_t image = 0;  // of all processes
  bool goes_on = true;
  for (std::int64_t position = 0; goes_on; ++position) {
    SampleTask task{.sample = {}, .position = position, .error = nullptr};
    try {
      if (order == nullptr) {
        order = make_order();
      }
      for (; !own.contain(image); ++image) {
        order->next();
      }
      ++image;
      task.sample = order->next();
      load(task.sample.record);
    } catch (...) {
      task.error = std::current_exception();
    }
    const bool last = task.error != nullptr;
    clock.worked();
    goes_on = queue.push(std::move(task)) && !last;
    clock.waited();
    if (clock.is_due() || !goes_on) {
      queue.add(clock.take());
    }
  }
}

}  // namespace

BatchLoader::BatchLoader(const LoaderOptions& options, MakeOrder make_order,
                         const MakeWorker& make_worker, std::shared_ptr<HostAllocator> allocator)
    : options_(options),
      queue_(std::make_shared<TaskQueue>(
          TaskQueueLimits{.longest = 4 * static_cast<std::size_t>(options.num_threads) + 16,
                          .batch = options.batch,
                          .slots = options.num_slots})) {
  check(options.batch > 0 && options.image_elements > 0 && options.num_threads > 0 &&
            options.num_slots >= 2,
        "a loader needs images, a thread and two slots");
  const auto batch = static_cast<std::size_t>(options.batch);
  const std::size_t bytes = batch * static_cast<std::size_t>(options.image_elements) *
                            (options.type == SlotType::u8 ? sizeof(std::uint8_t) : sizeof(float));
  for (int i = 0; i < options.num_slots; ++i) {
    slots_.push_back({.images = {allocator, bytes},
                      .labels = {allocator, batch},
                      .epochs = std::vector<std::int64_t>(batch),
                      .filled = 0,
                      .epoch = 0,
                      .error = nullptr,
                      .error_row = 0});
  }
  statistics_.threads = options.num_threads;
  statistics_.shards = options.shards;
  statistics_.shard_bytes = options.shard_bytes;
  statistics_.records = options.records;
  for (int i = 0; i < options.num_threads; ++i) {
    workers_.push_back(make_worker());
  }
  try {
    for (const auto& worker : workers_) {
      threads_.push_back(start_thread([this, &worker] { work(*worker); }));
    }
    const OwnRows own{.all = std::max(options.global_batch, options.batch),
                      .first = options.first_image,
                      .count = options.batch};
    reading_ = start_thread([queue = queue_, make = std::move(make_order), own] {
      read_samples(*queue, make, own);
      queue->say_reading_ended();
    });
  } catch (const DeviceError&) {
    stop();
    throw;
  }
}

BatchLoader::~BatchLoader() { stop(); }

void BatchLoader::stop() {
  queue_->stop();
  threads_.clear();
  // A blocked read cannot be interrupted, so its thread is detached with everything it uses.
  if (reading_.joinable() && !queue_->reading_ends_within(kReadPatience)) {
    reading_.detach();
  }
}

BatchLoader::Slot& BatchLoader::slot_of(std::int64_t batch_index) {
  return slots_[static_cast<std::size_t>(batch_index % options_.num_slots)];
}

ImagePlace BatchLoader::place_of(const Slot& slot, std::int64_t row) const {
  const std::int64_t first = row * options_.image_elements;
  if (options_.type == SlotType::u8) {
    return reinterpret_cast<std::uint8_t*>(slot.images.data()) + first;
  }
  return reinterpret_cast<float*>(slot.images.data()) + first;
}

void BatchLoader::work(SampleWorker& worker) {
  ThreadClock clock;
  while (const std::optional<SampleTask> task = queue_->pop()) {
    clock.waited();
    SampleCost cost;
    std::exception_ptr error = task->error;
    if (error == nullptr) {
      const Slot& slot = slot_of(task->position / options_.batch);
      const std::int64_t row = task->position % options_.batch;
      try {
        cost = worker.prepare(task->sample, place_of(slot, row), slot.labels.data() + row);
      } catch (...) {
        error = std::current_exception();
      }
    }
    clock.worked();
    complete(*task, cost, clock.is_due() ? clock.take() : ThreadTimes(), std::move(error));
  }
}

void BatchLoader::complete(const SampleTask& task, const SampleCost& cost, const ThreadTimes& times,
                           std::exception_ptr error) {
  const std::int64_t row = task.position % options_.batch;
  bool whole = false;
  {
    const std::lock_guard lock(mutex_);
    Slot& slot = slot_of(task.position / options_.batch);
    // An error that ends the reading also completes its batch, since no more images will come.
    slot.filled = task.error != nullptr ? slot.filled + options_.batch - row : slot.filled + 1;
    if (error != nullptr && (slot.error == nullptr || row < slot.error_row)) {
      slot.error = std::move(error);
      slot.error_row = row;
    }
    whole = slot.filled == options_.batch;
    ++statistics_.images_prepared;
    // Epochs only grow along the stream, so they also grow from one use of a slot to the next.
    const auto epoch = static_cast<std::int64_t>(task.sample.epoch);
    slot.epoch = std::max(slot.epoch, epoch);
    slot.epochs[static_cast<std::size_t>(row)] = epoch;
    if (row == options_.batch - 1) {
      // The last images of the batch may be another process's.
      const std::int64_t all = std::max(options_.global_batch, options_.batch);
      slot.following = {.epoch = epoch,
                        .index = static_cast<std::int64_t>(task.sample.index) + 1 + all -
                                 options_.first_image - options_.batch};
    }
    statistics_.epoch = std::max(statistics_.epoch, epoch);
    statistics_.record_bytes += task.sample.record.size;
    statistics_.preparing += times;
    statistics_.parse_busy += cost.parse;
    statistics_.decode_busy += cost.decode;
    statistics_.resize_busy += cost.resize;
    statistics_.jpeg_warnings += cost.jpeg_warnings;
    statistics_.seekable_images += cost.seekable ? 1 : 0;
    statistics_.grey_images += cost.grey ? 1 : 0;
    statistics_.cmyk_images += cost.cmyk ? 1 : 0;
  }
  if (whole) {
    complete_.notify_one();
  }
}

bool BatchLoader::ready_within(std::chrono::nanoseconds time) {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  const bool ready = complete_.wait_for(lock, time, [this] { return is_ready(); });
  statistics_.consumer_wait += std::chrono::steady_clock::now() - start;
  return ready;
}

void BatchLoader::release_last() {
  // Nothing is held after a release, or if the last batch was not handed out because of its error.
  if (released_ < next_batch_) {
    slot_of(released_).filled = 0;
    released_ = next_batch_;
    queue_->set_released(released_);
  }
}

void BatchLoader::release() {
  const std::lock_guard lock(mutex_);
  release_last();
}

InputBatch BatchLoader::next() {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  release_last();
  complete_.wait(lock, [this] { return is_ready(); });
  Slot& slot = slot_of(next_batch_);
  statistics_.consumer_wait += std::chrono::steady_clock::now() - start;
  if (slot.error != nullptr) {
    std::rethrow_exception(slot.error);
  }
  ++next_batch_;
  statistics_.images_delivered += options_.batch;
  InputBatch batch{.labels = slot.labels.data(),
                   .epoch = slot.epoch,
                   .epochs = slot.epochs.data(),
                   .following = slot.following};
  if (const ImagePlace images = place_of(slot, 0); options_.type == SlotType::u8) {
    batch.pixels = std::get<std::uint8_t*>(images);
  } else {
    batch.images = std::get<float*>(images);
  }
  return batch;
}

InputStatistics BatchLoader::statistics() const {
  const std::lock_guard lock(mutex_);
  InputStatistics statistics = statistics_;
  statistics.reading = queue_->times();
  return statistics;
}

}  // namespace bench
