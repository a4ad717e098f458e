#include "bench/loop/replayed_input.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

constexpr std::int64_t kBatch = 2;

/// Batches that reuse their memory; each image is the number of its batch.
class CountingInput final : public InputSource {
 public:
  InputBatch next() override {
    ++batches_;
    images_.assign(kBatch, static_cast<float>(batches_));
    labels_.assign(kBatch, static_cast<std::int32_t>(batches_));
    epochs_.assign(kBatch, 0);
    return {.images = images_.data(),
            .labels = labels_.data(),
            .content = ContentId::fresh(),
            .epochs = epochs_.data()};
  }
  [[nodiscard]] InputStatistics statistics() const override { return {}; }

 private:
  int batches_ = 0;
  std::vector<float> images_;
  std::vector<std::int32_t> labels_;
  std::vector<std::int64_t> epochs_;
};

TEST(ReplayedInput, HandsOutItsCopiesInTurn) {
  CountingInput source;
  ReplayedInput replayed(source, 3, kBatch, sizeof(float));
  source.next();
  for (const int expected : {1, 2, 3, 1, 2}) {
    const InputBatch batch = replayed.next();
    EXPECT_EQ(batch.images[kBatch - 1], static_cast<float>(expected));
    EXPECT_EQ(batch.labels[kBatch - 1], expected);
    EXPECT_FALSE(batch.content.same_as(batch.content)) << "its contents must be copied";
  }
}

TEST(ReplayedInput, RepeatsOneBatchWithTheSameContents) {
  CountingInput source;
  ReplayedInput replayed(source, 2, kBatch, sizeof(float));
  replayed.repeat_first();
  const InputBatch first = replayed.next();
  const InputBatch second = replayed.next();
  EXPECT_EQ(first.images, second.images);
  EXPECT_EQ(second.labels[0], 1);
  EXPECT_TRUE(first.content.same_as(second.content));
}

/// Images without labels but with numbers; all reuse their memory.
class NumbersInput final : public InputSource {
 public:
  InputBatch next() override {
    ++batches_;
    images_.assign(kBatch, 0);
    epochs_.assign(kBatch, 0);
    values_.assign(kBatch, batches_);
    numbers_ = {{.input = "classes", .values = values_.data(), .per_example = 1}};
    return {.images = images_.data(), .numbers = numbers_, .epochs = epochs_.data()};
  }
  [[nodiscard]] InputStatistics statistics() const override { return {}; }

 private:
  std::int32_t batches_ = 0;
  std::vector<float> images_;
  std::vector<std::int64_t> epochs_;
  std::vector<std::int32_t> values_;
  std::vector<BatchNumbers> numbers_;
};

TEST(ReplayedInput, CopiesNumbersInsteadOfLabels) {
  NumbersInput source;
  ReplayedInput replayed(source, 2, kBatch, sizeof(float));
  source.next();
  for (const std::int32_t expected : {1, 2, 1}) {
    const InputBatch batch = replayed.next();
    EXPECT_EQ(batch.labels, nullptr);
    ASSERT_EQ(batch.numbers.size(), 1U);
    EXPECT_EQ(static_cast<const std::int32_t*>(batch.numbers[0].values)[kBatch - 1], expected);
  }
  replayed.repeat_first();
  EXPECT_TRUE(replayed.next().numbers[0].content.same_as(replayed.next().numbers[0].content));
}

}  // namespace
}  // namespace bench
