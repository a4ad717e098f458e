#include "pipeline/storage_speed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "models/base/errors.h"
#include "pipeline/test/support.h"

namespace bench {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr double kMega = 1e6;

/// Storage that delivers at most `bytes_per_second` in total, on a clock that only it advances.
class TokenBucket {
 public:
  explicit TokenBucket(double bytes_per_second) : bytes_per_second_(bytes_per_second) {}

  [[nodiscard]] FileReads reads(std::vector<std::uint64_t> sizes) {
    return {.sizes = std::move(sizes),
            .read =
                [this](std::size_t, std::uint64_t, std::span<char> to) {
                  taken_ += to.size();
                  return to.size();
                },
            .now =
                [this] {
                  return nanoseconds(static_cast<std::int64_t>(
                      1e9 * static_cast<double>(taken_.load()) / bytes_per_second_));
                }};
  }
  [[nodiscard]] std::uint64_t taken() const { return taken_; }

 private:
  double bytes_per_second_;
  std::atomic<std::uint64_t> taken_ = 0;
};

const std::vector<std::uint64_t> kLargeFiles(8, std::uint64_t{1} << 32U);

TEST(StorageSpeed, IsThatOfATokenBucket) {
  for (const double megabytes : {50, 150, 500, 2000}) {
    for (const int concurrent : {1, 8}) {
      TokenBucket bucket(megabytes * kMega);
      const double speed = read_speed(bucket.reads(kLargeFiles), concurrent, seconds(2));
      EXPECT_NEAR(speed, megabytes * kMega, 0.01 * megabytes * kMega);
      EXPECT_EQ(storage_class(speed).megabytes_per_second, megabytes);
      EXPECT_NEAR(static_cast<double>(bucket.taken()), 2 * megabytes * kMega, 9 * (1 << 21));
    }
  }
}

TEST(StorageSpeed, ReadsEachByteAtMostOnce) {
  TokenBucket bucket(kMega);
  const std::vector<std::uint64_t> sizes{3 << 20, 4096, 0, 2 << 20};
  EXPECT_GT(read_speed(bucket.reads(sizes), 3, std::chrono::hours(1)), 0);
  EXPECT_EQ(bucket.taken(), std::uint64_t{5 << 20} + 4096);
  EXPECT_EQ(read_speed(bucket.reads({}), 1, seconds(1)), 0) << "no files";
}

TEST(StorageSpeed, BeginsAtAPartAndStopsOnRequest) {
  TokenBucket bucket(kMega);
  const std::vector<std::uint64_t> sizes{4 << 20, 4 << 20};
  read_speed(bucket.reads(sizes), 2, std::chrono::hours(1), 0.5);
  EXPECT_EQ(bucket.taken(), std::uint64_t{4 << 20});
  FileReads stopped = bucket.reads(sizes);
  stopped.stopped = [] { return true; };
  EXPECT_EQ(read_speed(stopped, 2, std::chrono::hours(1)), 0);
}

TEST(StorageSpeed, PassesErrorsOn) {
  TokenBucket bucket(kMega);
  FileReads reads = bucket.reads({1});
  reads.read = [](std::size_t, std::uint64_t, std::span<char>) -> std::size_t {
    throw DataError("damaged");
  };
  EXPECT_THROW(read_speed(reads, 2, seconds(1)), DataError);
}

TEST(StorageClass, IsTheClosestByRatio) {
  EXPECT_EQ(storage_class(1).megabytes_per_second, 50);
  EXPECT_EQ(storage_class(80 * kMega).megabytes_per_second, 50);
  EXPECT_EQ(storage_class(95 * kMega).megabytes_per_second, 150);
  EXPECT_EQ(storage_class(280 * kMega).megabytes_per_second, 500);
  EXPECT_EQ(storage_class(990 * kMega).megabytes_per_second, 500);
  EXPECT_EQ(storage_class(1010 * kMega).megabytes_per_second, 2000);
  EXPECT_EQ(storage_class(20000 * kMega).megabytes_per_second, 2000);
}

TEST(DirectReads, ReadFilesOrAreUnavailable) {
  const test::TemporaryFolder folder;
  test::write_file(folder.file("file"), std::string(10000, 'x'));
  EXPECT_FALSE(direct_reads({folder.file("absent")}));
  if (const auto reads = direct_reads({folder.file("file")})) {
    EXPECT_EQ(reads->sizes, std::vector<std::uint64_t>{10000});
    EXPECT_GT(read_speed(*reads, 2, seconds(10)), 0);
  }
}

}  // namespace
}  // namespace bench
