#include "pipeline/stages/sample_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>

namespace bench {
namespace {

/// Epochs of the records 0 to count - 1, identified by their offsets.
class Counting final : public RecordStream {
 public:
  explicit Counting(std::uint64_t count) : count_(count) {}
  std::optional<Record> next() override {
    if (position_ == count_) {
      position_ = 0;
      return std::nullopt;
    }
    ++read_;
    return Record{
        .bytes = nullptr, .size = 0, .masked_crc = 0, .file = nullptr, .offset = position_++};
  }
  [[nodiscard]] std::uint64_t read() const { return read_; }

 private:
  std::uint64_t count_;
  std::uint64_t position_ = 0;
  std::uint64_t read_ = 0;
};

std::vector<std::uint64_t> draw(SampleOrder& order, std::size_t count) {
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(order.next().record.offset);
  }
  return out;
}

TEST(SampleOrder, KeepsTheStreamsOrderWithCapacityOne) {
  SampleOrder order(std::make_unique<Counting>(3), 1, 9);
  EXPECT_EQ(draw(order, 7), (std::vector<std::uint64_t>{0, 1, 2, 0, 1, 2, 0}));
}

TEST(SampleOrder, GivesEveryRecordOncePerEpochForAnyCapacity) {
  for (const std::size_t capacity : {1U, 2U, 7U, 50U, 99U, 100U, 101U, 150U, 1000U}) {
    SampleOrder order(std::make_unique<Counting>(100), capacity, 5);
    std::set<std::vector<std::uint64_t>> orders;
    for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
      std::vector<std::uint64_t> records;
      for (std::uint64_t i = 0; i < 100; ++i) {
        const Sample sample = order.next();
        EXPECT_EQ(sample.epoch, epoch);
        EXPECT_EQ(sample.index, i);
        records.push_back(sample.record.offset);
      }
      orders.insert(records);
      std::sort(records.begin(), records.end());
      std::vector<std::uint64_t> all(100);
      std::iota(all.begin(), all.end(), 0U);
      EXPECT_EQ(records, all) << "capacity " << capacity;
    }
    EXPECT_EQ(orders.size(), capacity == 1 ? 1U : 4U) << "each epoch has a different order";
  }
}

TEST(SampleOrder, ContinuesFromAnyPlaceAsIfItHadNotStopped) {
  constexpr std::uint64_t kRecords = 20;
  for (const std::size_t capacity : {1U, 7U, 20U, 30U}) {
    SampleOrder whole(std::make_unique<Counting>(kRecords), capacity, 3);
    const auto records = draw(whole, 4 * kRecords);
    for (std::int64_t index = 0; index <= 2 * static_cast<std::int64_t>(kRecords); ++index) {
      // The source begins with epoch 1; an index beyond its end is in epoch 2.
      SampleOrder rest(std::make_unique<Counting>(kRecords), capacity, 3,
                       {.epoch = 1, .index = index});
      const auto first = static_cast<std::ptrdiff_t>(kRecords) + index;
      EXPECT_EQ(draw(rest, 10), std::vector(records.begin() + first, records.begin() + first + 10))
          << "capacity " << capacity << ", index " << index;
    }
  }
}

TEST(SampleOrder, DependsOnTheSeedAlone) {
  SampleOrder a(std::make_unique<Counting>(50), 20, 1);
  SampleOrder b(std::make_unique<Counting>(50), 20, 1);
  SampleOrder c(std::make_unique<Counting>(50), 20, 2);
  const auto order = draw(a, 120);
  EXPECT_EQ(draw(b, 120), order);
  EXPECT_NE(draw(c, 120), order);
}

TEST(SampleOrder, HoldsNoMoreThanItsCapacity) {
  auto source = std::make_unique<Counting>(30);
  const Counting& counting = *source;
  SampleOrder order(std::move(source), 10, 1);
  for (std::uint64_t drawn = 1; drawn <= 100; ++drawn) {
    order.next();
    EXPECT_LE(counting.read(), drawn + 9);
  }
}

TEST(SampleOrder, ReadsASmallEpochGradually) {
  auto stream = std::make_unique<Counting>(100);
  const Counting& counting = *stream;
  SampleOrder order(std::move(stream), 1000, 5);
  draw(order, 1);
  for (int i = 0; i < 350; ++i) {
    const std::uint64_t before = counting.read();
    draw(order, 1);
    EXPECT_LE(counting.read() - before, 1U) << "draw " << i;
  }
}

TEST(SampleOrder, ShufflesUniformlyWhenAllRecordsFit) {
  std::vector<int> first(4);
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    SampleOrder order(std::make_unique<Counting>(4), 100, seed);
    ++first.at(order.next().record.offset);
  }
  for (const int count : first) {
    EXPECT_NEAR(count, 1000, 140);  // five standard deviations
  }
}

TEST(SampleRandom, DiffersWithSeedEpochIndexAndPurpose) {
  const auto bits = [](std::uint64_t seed, std::uint64_t epoch, std::uint64_t index,
                       std::string_view purpose) {
    const Sample sample{.record = {}, .epoch = epoch, .index = index};
    return sample_random(seed, sample, purpose).bits();
  };
  const std::set<std::uint32_t> draws = {bits(1, 2, 3, "a"), bits(2, 2, 3, "a"), bits(1, 3, 3, "a"),
                                         bits(1, 2, 4, "a"), bits(1, 2, 3, "b")};
  EXPECT_EQ(draws.size(), 5U);
  EXPECT_EQ(bits(1, 2, 3, "a"), bits(1, 2, 3, "a"));
}

}  // namespace
}  // namespace bench
