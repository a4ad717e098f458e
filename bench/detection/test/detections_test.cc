#include "bench/detection/detections.h"

#include <gtest/gtest.h>

#include <cmath>

#include "models/base/default_boxes.h"
#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::size_t kClasses = 4;
constexpr std::size_t kColumns = 4 + kClasses;

/// Logits with background everywhere.
std::vector<float> nothing_found() {
  std::vector<float> logits(static_cast<std::size_t>(kDefaultBoxes) * kColumns);
  for (std::size_t i = 4; i < logits.size(); i += kColumns) {
    logits[i] = 20;
  }
  return logits;
}

/// Gives a class of a default box a probability of about 1 / (1 + exp(-margin)).
void put(std::vector<float>& logits, std::size_t box, std::size_t category, float margin) {
  logits[box * kColumns + 4 + category] = 20 + margin;
}

/// The first box of the map with a cell per 100 pixels.
constexpr std::size_t kLarge = 8692;

TEST(Detections, AreNoneInBackground) { EXPECT_TRUE(find_objects(nothing_found()).empty()); }

TEST(Detections, HaveTheBoxClassAndProbability) {
  std::vector<float> logits = nothing_found();
  put(logits, kLarge, 2, 3);
  logits[kLarge * kColumns] = 5;                       // Half a height down.
  logits[kLarge * kColumns + 3] = 5 * std::log(2.0F);  // Twice as wide.
  const std::vector<Detection> found = find_objects(logits);
  ASSERT_EQ(found.size(), 1U);
  const CenteredBox& box = default_boxes()[kLarge];
  EXPECT_EQ(found[0].category, 2);
  EXPECT_NEAR(found[0].score, 1 / (1 + std::exp(-3.0)), 1e-6);
  EXPECT_NEAR(found[0].box.y_min, box.y, 1e-6);
  EXPECT_NEAR(found[0].box.y_max, box.y + box.height, 1e-6);
  EXPECT_NEAR(found[0].box.x_min, box.x - box.width, 1e-6);
  EXPECT_NEAR(found[0].box.x_max, box.x + box.width, 1e-6);
}

TEST(Detections, DropWhatCoversABetterOneOfTheSameClass) {
  std::vector<float> logits = nothing_found();
  const std::size_t larger = kLarge + 9;  // The same cell.
  put(logits, kLarge, 1, 1);
  put(logits, larger, 1, 2);
  const std::vector<Detection> best = find_objects(logits);
  ASSERT_EQ(best.size(), 1U);
  EXPECT_NEAR(best[0].box.height(), default_boxes()[larger].height, 1e-6);
  put(logits, kLarge + 1, 1, 1);  // The next cell.
  EXPECT_EQ(find_objects(logits).size(), 2U);
  put(logits, kLarge + 1, 1, -20);
  put(logits, larger, 1, 0);
  put(logits, larger, 3, 2);
  const std::vector<Detection> found = find_objects(logits);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].category, 3);
  EXPECT_EQ(found[1].category, 1);
}

TEST(Detections, AreAtMostTwoHundred) {
  std::vector<float> logits = nothing_found();
  for (std::size_t box = 0; box < 1444; ++box) {
    put(logits, box, 1 + box % 3, static_cast<float>(box % 7));
  }
  const std::vector<Detection> found = find_objects(logits);
  EXPECT_EQ(found.size(), 200U);
  EXPECT_GE(found.front().score, found.back().score);
}

TEST(Detections, RefuseLogitsThatDoNotFit) {
  EXPECT_THROW(find_objects({}), InternalError);
  EXPECT_THROW(find_objects(std::vector<float>(static_cast<std::size_t>(kDefaultBoxes) * 4)),
               InternalError);
}

TEST(Detections, NeedAProbabilityAboveFivePercent) {
  std::vector<float> logits = nothing_found();
  put(logits, kLarge, 1, -3);
  EXPECT_TRUE(find_objects(logits).empty());
  put(logits, kLarge, 1, -2.9F);
  EXPECT_EQ(find_objects(logits).size(), 1U);
}

}  // namespace
}  // namespace bench
