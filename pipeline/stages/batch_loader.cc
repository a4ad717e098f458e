#include "pipeline/stages/batch_loader.h"

#include <algorithm>
#include <utility>

#include "models/base/errors.h"
#include "models/base/threads.h"
#include "pipeline/stages/cpu_clock.h"

namespace bench {

BatchLoader::BatchLoader(const LoaderOptions& options, MakeOrder make_order,
                         const MakeWorker& make_worker, std::shared_ptr<HostAllocator> allocator)
    : options_(options), longest_queue_(4 * static_cast<std::size_t>(options.num_threads) + 16) {
  check(options.batch > 0 && options.image_elements > 0 && options.num_threads > 0 &&
            options.num_slots >= 2,
        "a loader has a batch, a worker and two slots");
  const auto batch = static_cast<std::size_t>(options.batch);
  const std::size_t bytes = batch * static_cast<std::size_t>(options.image_elements) *
                            (options.type == SlotType::u8 ? sizeof(std::uint8_t) : sizeof(float));
  for (int i = 0; i < options.num_slots; ++i) {
    slots_.push_back({.images = {allocator, bytes},
                      .labels = {allocator, batch},
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
    threads_.push_back(start_thread([this, make = std::move(make_order)] { read(make); }));
  } catch (const DeviceError&) {
    stop();
    throw;
  }
}

BatchLoader::~BatchLoader() { stop(); }

void BatchLoader::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  room_.notify_all();
  work_.notify_all();
  threads_.clear();
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

void BatchLoader::read(const MakeOrder& make_order) {
  Task task;
  CpuLap clock;
  std::unique_ptr<SampleOrder> order;
  for (std::int64_t position = 0;; ++position) {
    task = {.sample = {}, .position = position, .error = nullptr};
    try {
      if (order == nullptr) {
        order = make_order();
      }
      task.sample = order->next();
    } catch (...) {
      task.error = std::current_exception();
    }
    const bool last = task.error != nullptr;
    const bool pushed = push(std::move(task));
    const auto busy = clock.lap();
    {
      const std::lock_guard lock(mutex_);
      statistics_.read_busy += busy;
    }
    if (last || !pushed) {
      return;
    }
  }
}

bool BatchLoader::push(Task task) {
  const std::int64_t batch_index = task.position / options_.batch;
  {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] {
      return stopping_ ||
             (queue_.size() < longest_queue_ && batch_index < released_ + options_.num_slots);
    });
    if (stopping_) {
      return false;
    }
    queue_.push_back(std::move(task));
  }
  work_.notify_one();
  return true;
}

void BatchLoader::work(SampleWorker& worker) {
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_) {
        return;
      }
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    room_.notify_one();
    SampleCost cost;
    std::exception_ptr error = task.error;
    if (error == nullptr) {
      const Slot& slot = slot_of(task.position / options_.batch);
      const std::int64_t row = task.position % options_.batch;
      try {
        cost = worker.prepare(task.sample, place_of(slot, row), slot.labels.data() + row);
      } catch (...) {
        error = std::current_exception();
      }
    }
    complete(task, cost, std::move(error));
  }
}

void BatchLoader::complete(const Task& task, const SampleCost& cost, std::exception_ptr error) {
  const std::int64_t row = task.position % options_.batch;
  bool whole = false;
  {
    const std::lock_guard lock(mutex_);
    Slot& slot = slot_of(task.position / options_.batch);
    // An error that ends the reading also ends its batch: no further image will come.
    slot.filled = task.error != nullptr ? slot.filled + options_.batch - row : slot.filled + 1;
    if (error != nullptr && (slot.error == nullptr || row < slot.error_row)) {
      slot.error = std::move(error);
      slot.error_row = row;
    }
    whole = slot.filled == options_.batch;
    ++statistics_.images_prepared;
    // Epochs only grow along the stream, and so from one use of the slot to the next.
    const auto epoch = static_cast<std::int64_t>(task.sample.epoch);
    slot.epoch = std::max(slot.epoch, epoch);
    statistics_.epoch = std::max(statistics_.epoch, epoch);
    statistics_.record_bytes += task.sample.record.size;
    statistics_.parse_busy += cost.parse;
    statistics_.decode_busy += cost.decode;
    statistics_.resize_busy += cost.resize;
    statistics_.jpeg_warnings += cost.jpeg_warnings;
    statistics_.grey_images += cost.grey ? 1 : 0;
    statistics_.cmyk_images += cost.cmyk ? 1 : 0;
  }
  if (whole) {
    complete_.notify_one();
  }
}

InputBatch BatchLoader::next() {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  // The batch handed out last is no longer in use, unless it was never handed out for its error.
  if (released_ < next_batch_) {
    slot_of(released_).filled = 0;
    released_ = next_batch_;
    room_.notify_one();
  }
  Slot& slot = slot_of(next_batch_);
  complete_.wait(lock, [&] { return slot.filled == options_.batch; });
  statistics_.consumer_wait += std::chrono::steady_clock::now() - start;
  if (slot.error != nullptr) {
    std::rethrow_exception(slot.error);
  }
  ++next_batch_;
  statistics_.images_delivered += options_.batch;
  InputBatch batch{.labels = slot.labels.data(), .epoch = slot.epoch};
  if (const ImagePlace images = place_of(slot, 0); options_.type == SlotType::u8) {
    batch.pixels = std::get<std::uint8_t*>(images);
  } else {
    batch.images = std::get<float*>(images);
  }
  return batch;
}

InputStatistics BatchLoader::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

}  // namespace bench
