#include "pipeline/stages/batch_loader.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <fstream>
#include <future>
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

/// The bytes that the process has read from storage, as the kernel counts them.
std::optional<std::uint64_t> bytes_from_storage() {
  std::ifstream file("/proc/self/io");
  std::string name;
  for (std::uint64_t count = 0; file >> name >> count;) {
    if (name == "read_bytes:") {
      return count;
    }
  }
  return std::nullopt;
}

std::size_t image_bytes(const LoaderOptions& options) {
  return static_cast<std::size_t>(options.image_elements) *
         (options.type == SlotType::u8 ? sizeof(std::uint8_t) : sizeof(float));
}

std::size_t example_bytes(const ExampleInput& input) {
  return static_cast<std::size_t>(input.shape.elements()) * size_of(input.dtype);
}

std::optional<BadRecordError> bad_record_in(const std::exception_ptr& error) {
  if (error == nullptr) {
    return std::nullopt;
  }
  try {
    std::rethrow_exception(error);
  } catch (const BadRecordError& bad) {
    return bad;
  } catch (...) {
    return std::nullopt;
  }
}

/// Draws this process's samples and reads them.
class SampleReader {
 public:
  SampleReader(const BatchLoader::MakeOrder& make_order, ReaderPool* pool, const OwnRows& own,
               bool skips_bad)
      : make_order_(make_order), pool_(pool), own_(own), skips_bad_(skips_bad) {}

  /// The next task. One with an error is the last one.
  SampleTask next() {
    const std::size_t ahead = pool_ != nullptr ? 2 * static_cast<std::size_t>(pool_->threads()) : 1;
    while (!ended_ && started_.size() < ahead) {
      start();
    }
    Started first = std::move(started_.front());
    started_.pop_front();
    if (first.loading.valid()) {
      first.loading.wait();
    }
    return std::move(*first.task);
  }

 private:
  /// A task whose record may still be read.
  struct Started {
    std::shared_ptr<SampleTask> task;
    std::future<void> loading;
  };

  void start() {
    const auto task = std::make_shared<SampleTask>();
    task->position = position_++;
    try {
      task->sample = draw();
    } catch (...) {
      task->error = std::current_exception();
      ended_ = true;
    }
    Started started{.task = task, .loading = {}};
    if (task->error == nullptr) {
      if (pool_ != nullptr && task->sample.record.bytes == nullptr) {
        started.loading = pool_->run([task, skips_bad = skips_bad_] { read(*task, skips_bad); });
      } else {
        read(*task, skips_bad_);
        ended_ = task->error != nullptr;
      }
    }
    started_.push_back(std::move(started));
  }

  Sample draw() {
    if (order_ == nullptr) {
      order_ = make_order_(pool_);
    }
    for (; !own_.contain(image_); ++image_) {
      order_->next();
    }
    ++image_;
    return order_->next();
  }

  static void read(SampleTask& task, bool skips_bad) {
    try {
      load(task.sample.record, skips_bad);
    } catch (...) {
      task.error = std::current_exception();
    }
  }

  const BatchLoader::MakeOrder& make_order_;
  ReaderPool* pool_;
  OwnRows own_;
  bool skips_bad_;
  std::unique_ptr<SampleOrder> order_;
  std::int64_t image_ = 0;  ///< of all processes
  std::int64_t position_ = 0;
  bool ended_ = false;
  std::deque<Started> started_;
};

void read_samples(TaskQueue& queue, SampleReader& reader, ReaderPool* pool) {
  ThreadClock clock;
  bool goes_on = true;
  while (goes_on) {
    SampleTask task = reader.next();
    const bool last = task.error != nullptr;
    clock.worked();
    goes_on = queue.push(std::move(task)) && !last;
    clock.waited();
    if (clock.is_due() || !goes_on) {
      queue.add(clock.take());
      if (pool != nullptr) {
        queue.add_of_readers(pool->take_times());
      }
    }
  }
}

}  // namespace

BatchLoader::BatchLoader(const LoaderOptions& options, MakeOrder make_order,
                         const MakeWorker& make_worker,
                         const std::shared_ptr<HostAllocator>& allocator)
    : options_(options),
      queue_(std::make_shared<TaskQueue>(
          TaskQueueLimits{.longest = 4 * static_cast<std::size_t>(options.num_threads) + 16,
                          .batch = options.batch,
                          .slots = options.num_slots})) {
  check(options.batch > 0 && (options.image_elements > 0 || !options.numbers.empty()) &&
            options.num_threads > 0 && options.num_slots >= 2,
        "a loader needs images or numbers, a thread and two slots");
  for (int i = 0; i < options.num_slots; ++i) {
    slots_.push_back(make_slot(allocator));
  }
  statistics_.threads = options.num_threads;
  statistics_.readers = options.num_readers;
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
    // The thread owns the pool, since it may outlive the loader.
    auto pool =
        options.num_readers > 1 ? std::make_shared<ReaderPool>(options.num_readers) : nullptr;
    reading_ = start_thread([queue = queue_, pool = std::move(pool), make = std::move(make_order),
                             own, skips_bad = options.bad_records.skip]() mutable {
      {
        SampleReader reader(make, pool.get(), own, skips_bad);
        read_samples(*queue, reader, pool.get());
      }
      pool.reset();
      queue->say_reading_ended();
    });
  } catch (const DeviceError&) {
    stop();
    throw;
  }
}

BatchLoader::Slot BatchLoader::make_slot(const std::shared_ptr<HostAllocator>& allocator) const {
  const auto batch = static_cast<std::size_t>(options_.batch);
  Slot slot{.images = {allocator, batch * image_bytes(options_)},
            .labels = {allocator, options_.numbers.empty() ? batch : 0},
            .numbers = {},
            .batch_numbers = {},
            .epochs = std::vector<std::int64_t>(batch),
            .filled = 0,
            .epoch = 0,
            .error = nullptr,
            .error_row = 0,
            .bad = {}};
  for (const ExampleInput& input : options_.numbers) {
    slot.numbers.emplace_back(allocator, batch * example_bytes(input));
    slot.batch_numbers.push_back({.input = input.name,
                                  .dtype = input.dtype,
                                  .values = slot.numbers.back().data(),
                                  .per_example = static_cast<std::size_t>(input.shape.elements())});
  }
  return slot;
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
  std::vector<std::byte*> numbers(options_.numbers.size());
  while (const std::optional<SampleTask> task = queue_->pop()) {
    clock.waited();
    SampleCost cost;
    std::exception_ptr error = task->error != nullptr ? task->error : task->sample.record.error;
    if (error == nullptr) {
      const Slot& slot = slot_of(task->position / options_.batch);
      const std::int64_t row = task->position % options_.batch;
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = slot.numbers[i].data() +
                     static_cast<std::size_t>(row) * example_bytes(options_.numbers[i]);
      }
      try {
        cost = worker.prepare(task->sample,
                              {.image = place_of(slot, row),
                               .label = numbers.empty() ? slot.labels.data() + row : nullptr,
                               .numbers = numbers});
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
  const auto bad =
      options_.bad_records.skip && task.error == nullptr ? bad_record_in(error) : std::nullopt;
  bool whole = false;
  {
    const std::lock_guard lock(mutex_);
    Slot& slot = slot_of(task.position / options_.batch);
    // An error that ends the reading also completes its batch, since no more images will come.
    slot.filled = task.error != nullptr ? slot.filled + options_.batch - row : slot.filled + 1;
    if (bad) {
      slot.bad.emplace(row, *bad);
    } else if (error != nullptr && (slot.error == nullptr || row < slot.error_row)) {
      slot.error = std::move(error);
      slot.error_row = row;
    }
    whole = slot.filled == options_.batch;
    if (whole && !slot.bad.empty()) {
      replace_bad(slot);
    }
    ++statistics_.images_prepared;
    // Epochs only grow along the stream, so they also grow from one use of a slot to the next.
    const auto epoch = static_cast<std::int64_t>(task.sample.epoch);
    slot.epoch = std::max(slot.epoch, epoch);
    slot.epochs[static_cast<std::size_t>(row)] = bad ? kBadImage : epoch;
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

void BatchLoader::replace_bad(Slot& slot) const {
  const auto is_bad = [&](std::int64_t row) { return slot.bad.contains(row); };
  std::int64_t good = 0;
  while (good < options_.batch && is_bad(good)) {
    ++good;
  }
  if (good == options_.batch || slot.error != nullptr) {
    return;
  }
  const std::size_t bytes = image_bytes(options_);
  for (std::int64_t row = 0; row < options_.batch; ++row) {
    if (!is_bad(row)) {
      good = row;
      continue;
    }
    const auto copy = [&](std::byte* values, std::size_t each) {
      std::memcpy(values + static_cast<std::size_t>(row) * each,
                  values + static_cast<std::size_t>(good) * each, each);
    };
    copy(slot.images.data(), bytes);
    for (std::size_t i = 0; i < slot.numbers.size(); ++i) {
      copy(slot.numbers[i].data(), example_bytes(options_.numbers[i]));
    }
    if (slot.numbers.empty()) {
      slot.labels.data()[row] = slot.labels.data()[good];
    }
  }
}

void BatchLoader::count_bad(Slot& slot) {
  BadRecordCounts& counts = statistics_.bad_records;
  for (const auto& [row, bad] : slot.bad) {
    counts.add(bad);
  }
  const std::int64_t images = statistics_.images_delivered + options_.batch;
  if (std::ssize(slot.bad) == options_.batch) {
    slot.error = std::make_exception_ptr(DataError(fmt::format(
        "a batch has only bad records, so nothing can replace them: {}", describe(counts))));
  } else if (counts.total() > options_.bad_records.limit.accepted(images)) {
    slot.error = std::make_exception_ptr(DataError(
        fmt::format("--max_bad_records={} accepts {} in {} records, but there are more: {}",
                    options_.bad_records.limit.text(), options_.bad_records.limit.accepted(images),
                    images, describe(counts))));
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
    slot_of(released_).bad.clear();
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
  if (slot.error == nullptr && !slot.bad.empty()) {
    count_bad(slot);
  }
  if (slot.error != nullptr) {
    std::rethrow_exception(slot.error);
  }
  ++next_batch_;
  statistics_.images_delivered += options_.batch;
  InputBatch batch{.labels = slot.numbers.empty() ? slot.labels.data() : nullptr,
                   .numbers = slot.batch_numbers,
                   .epoch = slot.epoch,
                   .epochs = slot.epochs.data(),
                   .following = slot.following};
  if (options_.image_elements == 0) {
    return batch;
  }
  if (const ImagePlace images = place_of(slot, 0); options_.type == SlotType::u8) {
    batch.pixels = std::get<std::uint8_t*>(images);
  } else {
    batch.images = std::get<float*>(images);
  }
  return batch;
}

InputStatistics BatchLoader::statistics() const {
  // The workers must not wait for this file.
  const auto storage_bytes = bytes_from_storage();
  const auto process = process_cpu_time();
  const std::lock_guard lock(mutex_);
  InputStatistics statistics = statistics_;
  statistics.reading = queue_->times();
  statistics.readers_work = queue_->times_of_readers();
  statistics.storage_bytes = storage_bytes;
  statistics.process = process;
  return statistics;
}

}  // namespace bench
