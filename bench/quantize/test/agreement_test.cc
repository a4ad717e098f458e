#include "bench/quantize/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace bench {
namespace {

using testing::DoubleNear;
using testing::Optional;

constexpr std::int64_t kClasses = 3;

TEST(CompareLogits, CountsDecibelsAndEqualWinners) {
  const std::vector<float> right{3, 4, 0, 10, 0, 0};
  const std::vector<float> logits{4, 4, 0.5F, 10, 0, 0};
  const Agreement agreement = compare_logits(logits, right, kClasses);
  EXPECT_THAT(agreement.plain.decibels(), Optional(DoubleNear(20, 1e-9)));
  EXPECT_EQ(agreement.examples, 2);
  EXPECT_EQ(agreement.same_top_1, 1);
  EXPECT_EQ(agreement.classes_named, 2);
}

TEST(CompareLogits, SubtractTheMeanOverAllImages) {
  // Each class has a large mean; two images differ from it by 1, and int8 is wrong by 0.1.
  const std::vector<float> right{1001, 499, -299, 999, 501, -301};
  const std::vector<float> logits{1011.1F, 499, -299, 1008.9F, 501, -301};
  const Agreement agreement = compare_logits(logits, right, kClasses);
  EXPECT_THAT(agreement.plain.decibels(), Optional(DoubleNear(41.3, 0.1)));
  // Signal: 3 classes, 2 images, 1 each. Noise: 2 images of the first class, 0.1 each.
  EXPECT_NEAR(agreement.centred.signal, 6, 1e-9);
  EXPECT_THAT(agreement.centred.decibels(), Optional(DoubleNear(24.8, 0.1)));
}

TEST(CompareLogits, GiveConstantLogitsZeroDecibels) {
  const std::vector<float> right{1001, 499, -299, 999, 501, -301};
  const std::vector<float> constant{1000, 500, -300, 1000, 500, -300};
  const Agreement agreement = compare_logits(constant, right, kClasses);
  EXPECT_THAT(agreement.plain.decibels(), Optional(DoubleNear(56.7, 0.5)));
  EXPECT_THAT(agreement.centred.decibels(), Optional(DoubleNear(0, 1e-9)));
}

TEST(CompareLogits, FindNoSignalWhereTheImageMakesNoDifference) {
  // The second image's logits differ from the first one's only by f32 rounding.
  const float rounded = std::nextafter(1000.0F, 2000.0F);
  const std::vector<float> right{1000, 500, -300, rounded, 500, -300};
  const std::vector<float> logits{1000, 501, -300, 1000, 500, -300};
  const Agreement agreement = compare_logits(logits, right, kClasses);
  EXPECT_TRUE(agreement.plain.decibels().has_value());
  EXPECT_EQ(agreement.centred.signal, 0);
  EXPECT_FALSE(agreement.centred.decibels().has_value());
  // A single image does not differ from the mean of the images.
  const std::vector<float> one{1, 2, 3};
  EXPECT_EQ(compare_logits({logits.data(), 3}, one, kClasses).centred.signal, 0);
}

TEST(CompareLogits, NeverReportNanDecibels) {
  const std::vector<float> zeros(6);
  const std::vector<float> right{3, 4, 0, 10, 0, 0};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(compare_logits(zeros, zeros, kClasses).plain.decibels().has_value());
  EXPECT_FALSE(compare_logits(right, zeros, kClasses).plain.decibels().has_value());
  EXPECT_FALSE(compare_logits(right, right, kClasses).plain.decibels().has_value());
  EXPECT_FALSE(compare_logits(right, right, kClasses).centred.decibels().has_value());
  const std::vector<float> spoiled{nan, 4, 0, 10, 0, 0};
  EXPECT_FALSE(compare_logits(spoiled, right, kClasses).plain.decibels().has_value());
  EXPECT_FALSE(compare_logits(spoiled, right, kClasses).centred.decibels().has_value());
}

TEST(CompareLogits, CountTheClassesThatTheRightLogitsName) {
  const std::vector<float> right{1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1};
  const std::vector<float> logits{0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1};
  const Agreement agreement = compare_logits(logits, right, kClasses);
  EXPECT_EQ(agreement.classes_named, 2);
  EXPECT_EQ(agreement.same_top_1, 2);
}

TEST(CountCorrect, CountsImagesWhoseLabelWins) {
  const std::vector<float> logits{1, 0, 0, 1, 0, 0, 0, 0, 1};
  EXPECT_EQ(count_correct(logits, std::vector<std::int32_t>{0, 1, 2}, kClasses), 2);
}

}  // namespace
}  // namespace bench
