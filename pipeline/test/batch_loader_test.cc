#include "pipeline/stages/batch_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "pipeline/stages/record_stream.h"

namespace bench {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kBatch = 2;
constexpr milliseconds kNoTime{0};

/// A disk that gives `records` records, then blocks until it is released.
struct Disk {
  explicit Disk(int records) : left(records) {}
  /// Set once a read blocks.
  std::promise<void> stalled;
  std::promise<void> released;
  std::shared_future<void> release{released.get_future()};
  int left;
};

class StallingStream final : public RecordStream {
 public:
  explicit StallingStream(std::shared_ptr<Disk> disk) : disk_(std::move(disk)) {}
  std::optional<Record> next() override {
    if (disk_->left-- == 0) {
      disk_->stalled.set_value();
      disk_->release.wait();
    }
    return Record{.bytes = std::make_shared<char[]>(1), .size = 1, .file = nullptr};
  }

 private:
  std::shared_ptr<Disk> disk_;
};

/// Each image is its place in the epoch.
class CountingWorker final : public SampleWorker {
 public:
  SampleCost prepare(const Sample& sample, const SamplePlace& place) override {
    *std::get<float*>(place.image) = static_cast<float>(sample.index);
    *place.label = static_cast<std::int32_t>(sample.index);
    return {};
  }
};

std::unique_ptr<BatchLoader> loader_of(const std::shared_ptr<Disk>& disk, int slots = 3) {
  return std::make_unique<BatchLoader>(
      LoaderOptions{.batch = kBatch, .image_elements = 1, .num_threads = 2, .num_slots = slots},
      [disk](ReaderPool*) {
        return std::make_unique<SampleOrder>(std::make_unique<StallingStream>(disk), 1, 1);
      },
      [] { return std::make_unique<CountingWorker>(); }, make_host_allocator());
}

TEST(BatchLoader, SaysIfABatchIsReady) {
  const auto disk = std::make_shared<Disk>(3);
  const auto loader = loader_of(disk);
  disk->stalled.get_future().wait();
  EXPECT_TRUE(loader->ready_within(std::chrono::hours(1)));
  const InputBatch first = loader->next();
  EXPECT_THAT(std::vector(first.images, first.images + kBatch), testing::ElementsAre(0, 1));
  // Half of the second batch is ready.
  EXPECT_FALSE(loader->ready_within(kNoTime));
  EXPECT_FALSE(loader->ready_within(milliseconds(20)));
  EXPECT_EQ(first.labels[1], 1) << "asking releases nothing";
  disk->released.set_value();
  EXPECT_TRUE(loader->ready_within(std::chrono::hours(1)));
  EXPECT_EQ(loader->next().labels[1], 3);
}

/// Waits until `images` images are prepared; returns true if no more are prepared.
bool prepares(const BatchLoader& loader, std::int64_t images) {
  while (loader.statistics().images_prepared < images) {
    std::this_thread::yield();
  }
  return loader.statistics().images_prepared == images;
}

TEST(BatchLoader, FillsThePlaceOfABatchOnceItIsReleased) {
  const auto loader = loader_of(std::make_shared<Disk>(-1), 2);
  EXPECT_TRUE(prepares(*loader, 2 * kBatch));
  EXPECT_EQ(loader->next().labels[0], 0);
  loader->release();
  EXPECT_TRUE(prepares(*loader, 3 * kBatch)) << "the next batch has not been requested";
  loader->release();
  EXPECT_EQ(loader->next().labels[0], kBatch) << "it was released once";
  EXPECT_TRUE(prepares(*loader, 3 * kBatch));
  EXPECT_EQ(loader->next().labels[0], 2 * kBatch) << "next() releases, too";
  EXPECT_TRUE(prepares(*loader, 4 * kBatch));
}

TEST(BatchLoader, LoadsOnlyTheRowsOfItsProcess) {
  BatchLoader loader(
      {.batch = kBatch, .global_batch = 7, .first_image = 4, .image_elements = 1},
      [disk = std::make_shared<Disk>(-1)](ReaderPool*) {
        return std::make_unique<SampleOrder>(std::make_unique<StallingStream>(disk), 1, 1);
      },
      [] { return std::make_unique<CountingWorker>(); }, make_host_allocator());
  for (const std::int32_t first : {4, 11, 18}) {
    const InputBatch batch = loader.next();
    EXPECT_THAT(std::vector(batch.labels, batch.labels + kBatch),
                testing::ElementsAre(first, first + 1));
  }
}

constexpr milliseconds kSlow{5};

class SlowStream final : public RecordStream {
 public:
  std::optional<Record> next() override {
    std::this_thread::sleep_for(kSlow);
    return Record{.bytes = std::make_shared<char[]>(1), .size = 1, .file = nullptr};
  }
};

class SlowWorker final : public SampleWorker {
 public:
  SampleCost prepare(const Sample& /*sample*/, const SamplePlace& /*place*/) override {
    std::this_thread::sleep_for(kSlow);
    return {.decode = kSlow};
  }
};

/// What a loader did until the reading thread had reported 40 slow images.
template <class Stream, class Worker>
InputStatistics statistics_of() {
  constexpr int kBatches = 20;
  BatchLoader loader(
      {.batch = kBatch, .image_elements = 1, .num_threads = 1},
      [](ReaderPool*) { return std::make_unique<SampleOrder>(std::make_unique<Stream>(), 1, 1); },
      [] { return std::make_unique<Worker>(); }, make_host_allocator());
  for (int batch = 0; batch < kBatches; ++batch) {
    loader.next();
  }
  return loader.statistics();
}

/// A thread reports its times every 20 ms, so the last ones are missing.
constexpr milliseconds kReported = 30 * kSlow;

struct QuickStream final : public RecordStream {
  std::optional<Record> next() override {
    return Record{.bytes = std::make_shared<char[]>(1), .size = 1, .file = nullptr};
  }
};

TEST(BatchLoader, CountsTheTimesOfASlowReader) {
  const InputStatistics done = statistics_of<SlowStream, CountingWorker>();
  EXPECT_GE(done.reading.work, kReported);
  EXPECT_GE(done.preparing.waited, kReported);
}

TEST(BatchLoader, CountsTheTimesOfSlowWorkers) {
  const InputStatistics done = statistics_of<QuickStream, SlowWorker>();
  EXPECT_GE(done.preparing.work, kReported);
  EXPECT_GE(done.decode_busy, 40 * kSlow);
  EXPECT_GE(done.reading.waited, kSlow);
}

TEST(BatchLoader, EndsWhileItsDiskIsStalled) {
  const auto disk = std::make_shared<Disk>(1);
  auto loader = loader_of(disk);
  disk->stalled.get_future().wait();
  // The disk answers only after reset() returns.
  loader.reset();
  // The read returns later: its data still exist and are freed with it.
  EXPECT_GT(disk.use_count(), 1);
  disk->released.set_value();
  while (disk.use_count() > 1) {
    std::this_thread::yield();
  }
}

TEST(BatchLoader, LeavesNoThreadIfTheDiskAnswers) {
  const auto disk = std::make_shared<Disk>(-1);
  for (int i = 0; i < 20; ++i) {
    const auto loader = loader_of(disk);
    loader->next();
  }
  // The reading thread still holds the disk.
  EXPECT_EQ(disk.use_count(), 1);
}

}  // namespace
}  // namespace bench
