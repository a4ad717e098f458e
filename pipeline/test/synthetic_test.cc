#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "models/base/errors.h"
#include "pipeline/input.h"

namespace bench {
namespace {

constexpr InputSpec kSpec{.batch = 4,
                          .channels = 3,
                          .height = 80,
                          .width = 50,
                          .layout = SlotLayout::nchw,
                          .num_classes = 11,
                          .seed = 7};
constexpr std::size_t kElements = 4 * 3 * 80 * 50;

std::vector<float> images_of(const InputSpec& spec) {
  const auto input = make_synthetic_input(spec);
  const float* images = input->next().images;
  return {images, images + kElements};
}

TEST(SyntheticInput, HasTheMomentsAndTheCutOfItsDistribution) {
  double sum = 0;
  double squares = 0;
  for (const float x : images_of(kSpec)) {
    ASSERT_GE(x, 7);
    ASSERT_LE(x, 247);
    sum += x;
    squares += (x - 127.0) * (x - 127.0);
  }
  EXPECT_NEAR(sum / kElements, 127, 1.2);
  // A normal distribution truncated at two standard deviations keeps 0.8796 of its standard
  // deviation.
  EXPECT_NEAR(std::sqrt(squares / kElements), 0.8796 * 60, 0.9);
}

TEST(SyntheticInput, IsDeterminedByTheSeed) {
  const auto images = images_of(kSpec);
  EXPECT_EQ(images_of(kSpec), images);
  InputSpec other = kSpec;
  other.seed = 8;
  EXPECT_NE(images_of(other), images);
}

TEST(SyntheticInput, ShowsTheSameImagesInBothLayouts) {
  const auto nchw = images_of(kSpec);
  InputSpec spec = kSpec;
  spec.layout = SlotLayout::nhwc;
  const auto nhwc = images_of(spec);
  for (std::size_t n = 0; n < 4; ++n) {
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t place = 0; place < 80 * 50; ++place) {
        ASSERT_EQ(nchw[(n * 3 + c) * 80 * 50 + place], nhwc[(n * 80 * 50 + place) * 3 + c]);
      }
    }
  }
}

TEST(SyntheticInput, KeepsItsImagesAndDrawsFreshLabels) {
  const auto input = make_synthetic_input(kSpec);
  const InputBatch first = input->next();
  std::set<std::int32_t> seen;
  std::set<std::vector<std::int32_t>> batches;
  for (int step = 0; step < 200; ++step) {
    const InputBatch batch = input->next();
    EXPECT_EQ(batch.images, first.images);
    EXPECT_TRUE(batch.content.same_as(first.content));
    const std::vector<std::int32_t> labels(batch.labels, batch.labels + 4);
    seen.insert(labels.begin(), labels.end());
    batches.insert(labels);
  }
  EXPECT_EQ(seen, (std::set<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})) << "0 to num_classes - 2";
  EXPECT_GT(batches.size(), 180U);
  EXPECT_EQ(input->statistics().images_delivered, 201 * 4);
}

TEST(SyntheticInput, ContinuesWithTheSameLabels) {
  InputSpec spec = kSpec;
  const auto whole = make_synthetic_input(spec);
  whole->next();
  spec.start = whole->next().following;
  const auto rest = make_synthetic_input(spec);
  for (int i = 0; i < 3; ++i) {
    const InputBatch expected = whole->next();
    const InputBatch given = rest->next();
    EXPECT_TRUE(std::equal(given.labels, given.labels + spec.batch, expected.labels));
    EXPECT_EQ(given.following, expected.following);
  }
}

TEST(SyntheticInput, RefusesSizesThatAreNotPositive) {
  InputSpec spec = kSpec;
  spec.batch = 0;
  EXPECT_THROW(make_synthetic_input(spec), UsageError);
  spec = kSpec;
  spec.num_classes = 1;
  EXPECT_THROW(make_synthetic_input(spec), UsageError);
}

TEST(SyntheticInput, EndsWhenTheWatchThrows) {
  EXPECT_THROW(make_synthetic_input({.batch = 64, .height = 8, .width = 8, .num_classes = 10},
                                    nullptr, [](auto, auto) { throw DataError("enough"); }),
               DataError);
}

/// The numbers of some batches of one input.
std::vector<std::int32_t> numbers_of(const InputSpec& spec, std::size_t input, int batches) {
  const auto source = make_synthetic_input(spec);
  std::vector<std::int32_t> all;
  for (int i = 0; i < batches; ++i) {
    const InputBatch batch = source->next();
    EXPECT_FALSE(batch.has_images());
    const BatchNumbers& numbers = batch.numbers[input];
    const auto* const values = static_cast<const std::int32_t*>(numbers.values);
    all.insert(all.end(), values,
               values + static_cast<std::size_t>(spec.batch) * numbers.per_example);
  }
  return all;
}

InputSpec sequences() {
  return {.batch = 4,
          .num_classes = 6,
          .numbers = {{.name = "tokens", .shape = {5}, .bound = 6},
                      {.name = "labels", .shape = {5}, .bound = 6}},
          .seed = 7};
}

TEST(SyntheticNumbers, CoverTheirRangeAndDifferByInput) {
  const auto tokens = numbers_of(sequences(), 0, 20);
  const auto labels = numbers_of(sequences(), 1, 20);
  EXPECT_EQ(tokens.size(), 20 * 4 * 5);
  EXPECT_NE(tokens, labels);
  const std::set<std::int32_t> all{0, 1, 2, 3, 4, 5};
  EXPECT_EQ(std::set<std::int32_t>(tokens.begin(), tokens.end()), all);
  EXPECT_EQ(std::set<std::int32_t>(labels.begin(), labels.end()), all);
}

TEST(SyntheticNumbers, AreThoseOfTheSameExamplesInEveryProcess) {
  InputSpec part = sequences();
  part.batch = 2;
  part.global_batch = 4;
  part.first_image = 2;
  const auto whole = numbers_of(sequences(), 0, 1);
  EXPECT_EQ(numbers_of(part, 0, 1), std::vector(whole.begin() + 2 * 5, whole.end()));
}

TEST(SyntheticNumbers, BeginAtTheLeastNumber) {
  InputSpec spec = sequences();
  spec.numbers[0].least = 4;
  const auto tokens = numbers_of(spec, 0, 20);
  EXPECT_EQ(std::set<std::int32_t>(tokens.begin(), tokens.end()), (std::set<std::int32_t>{4, 5}));
}

TEST(SyntheticNumbers, AreZeroButForTheirShare) {
  InputSpec spec = sequences();
  spec.numbers[0] = {.name = "classes", .shape = {1000}, .least = 1, .bound = 6, .share = 0.05};
  const auto classes = numbers_of(spec, 0, 5);
  const std::set<std::int32_t> seen(classes.begin(), classes.end());
  EXPECT_EQ(seen, (std::set<std::int32_t>{0, 1, 2, 3, 4, 5}));
  const auto drawn = classes.size() - std::ranges::count(classes, 0);
  EXPECT_NEAR(static_cast<double>(drawn), 0.05 * 20000, 150);  // almost five deviations
}

TEST(SyntheticNumbers, ComeWithImagesIfTheseHaveASize) {
  InputSpec spec = sequences();
  spec.height = spec.width = 8;
  const auto source = make_synthetic_input(spec);
  const InputBatch batch = source->next();
  EXPECT_TRUE(batch.has_images());
  EXPECT_EQ(batch.labels, nullptr);
  EXPECT_EQ(batch.numbers.size(), 2U);
  InputSpec alone = spec;
  alone.numbers.clear();
  EXPECT_TRUE(std::equal(batch.images, batch.images + 4 * 3 * 8 * 8,
                         make_synthetic_input(alone)->next().images));
}

/// A sequence of three real numbers and a label.
InputSpec real_sequences() {
  return {.batch = 4,
          .num_classes = 6,
          .numbers = {{.name = "features", .dtype = DType::f32, .shape = {1, 3}},
                      {.name = "labels", .bound = 6}},
          .seed = 7};
}

std::vector<float> features_of(const InputSpec& spec) {
  const auto source = make_synthetic_input(spec);
  const InputBatch batch = source->next();
  EXPECT_EQ(batch.numbers[0].dtype, DType::f32);
  const auto* const values = static_cast<const float*>(batch.numbers[0].values);
  return {values, values + spec.batch * 3};
}

TEST(SyntheticNumbers, KeepRealNumbersFromZeroToOne) {
  const auto source = make_synthetic_input(real_sequences());
  const BatchNumbers first = source->next().numbers[0];
  const BatchNumbers second = source->next().numbers[0];
  EXPECT_EQ(second.values, first.values);
  EXPECT_TRUE(second.content.same_as(first.content));
  std::set<float> seen;
  for (const float value : features_of(real_sequences())) {
    EXPECT_GE(value, 0);
    EXPECT_LT(value, 1);
    seen.insert(value);
  }
  EXPECT_EQ(seen.size(), 4 * 3U);
}

TEST(SyntheticNumbers, AreTheSameRealNumbersInEveryProcess) {
  InputSpec part = real_sequences();
  part.batch = 2;
  part.global_batch = 4;
  part.first_image = 2;
  const auto whole = features_of(real_sequences());
  EXPECT_EQ(features_of(part), std::vector(whole.begin() + 2 * 3, whole.end()));
}

TEST(SyntheticNumbers, ContinueWhereARunEnded) {
  InputSpec later = sequences();
  later.start.index = 2 * 4;
  const auto all = numbers_of(sequences(), 1, 3);
  EXPECT_EQ(numbers_of(later, 1, 1), std::vector(all.begin() + 2 * 4 * 5, all.end()));
}

}  // namespace
}  // namespace bench
