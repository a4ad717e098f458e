#include "bench/detection/coco_metric.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

/// A box with this corner, width and height.
Box box_at(double x, double y, double width, double height) {
  return {.y_min = y, .x_min = x, .y_max = y + height, .x_max = x + width};
}

TrueObject object(const Box& box, bool crowd = false) {
  return {.box = box, .category = 1, .area = box.area(), .crowd = crowd};
}

Detection detection(const Box& box, double score, std::int32_t category = 1) {
  return {.box = box, .category = category, .score = score};
}

const Box kHere = box_at(10, 10, 50, 50);
const Box kThere = box_at(200, 100, 50, 50);

double average_precision(const std::vector<TrueObject>& objects,
                         const std::vector<Detection>& detections) {
  return coco_metric({{objects, detections}}).average_precision();
}

TEST(CocoMetric, IsOneIfEveryObjectIsFound) {
  EXPECT_DOUBLE_EQ(average_precision({object(kHere), object(kThere)},
                                     {detection(kThere, 0.5), detection(kHere, 0.9)}),
                   1);
}

TEST(CocoMetric, FallsWithWrongDetectionsThatComeFirst) {
  EXPECT_DOUBLE_EQ(
      average_precision({object(kHere)}, {detection(kThere, 0.9), detection(kHere, 0.5)}), 0.5);
  EXPECT_DOUBLE_EQ(
      average_precision({object(kHere)}, {detection(kThere, 0.1), detection(kHere, 0.5)}), 1);
}

TEST(CocoMetric, CountsASecondDetectionOfAnObjectAsWrong) {
  // The recalls up to 0.5 have a precision of 1, the others of 2/3.
  EXPECT_NEAR(
      average_precision({object(kHere), object(kThere)},
                        {detection(kHere, 0.9), detection(kHere, 0.8), detection(kThere, 0.5)}),
      (51 + 50 * 2.0 / 3) / 101, 1e-12);
}

TEST(CocoMetric, IgnoresDetectionsOfACrowd) {
  EXPECT_DOUBLE_EQ(
      average_precision(
          {object(kHere), object(kThere, /*crowd=*/true)},
          {detection(kThere, 0.9), detection(box_at(210, 110, 9, 9), 0.8), detection(kHere, 0.5)}),
      1);
}

TEST(CocoMetric, IsMinusOneWithoutObjects) {
  EXPECT_EQ(average_precision({}, {detection(kHere, 0.5)}), -1);
  EXPECT_EQ(average_precision({object(kHere, /*crowd=*/true)}, {}), -1);
}

TEST(CocoMetric, IgnoresClassesWithoutObjects) {
  EXPECT_DOUBLE_EQ(
      average_precision({object(kHere)}, {detection(kHere, 0.5), detection(kHere, 0.9, 2)}), 1);
}

/// The object is found by the last of many detections.
TEST(CocoMetric, CountsOnlyTheBestDetectionsOfAnImage) {
  const auto recalls = [](int wrong) {
    std::vector<Detection> detections{detection(kHere, 0.1)};
    for (int i = 0; i < wrong; ++i) {
      detections.push_back(detection(kThere, 0.2 + 0.001 * i));
    }
    const CocoMetric metric = coco_metric({{{object(kHere)}, detections}});
    return std::vector(metric.values.begin() + 6, metric.values.begin() + 9);
  };
  EXPECT_EQ(recalls(0), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(recalls(9), (std::vector<double>{0, 1, 1}));
  EXPECT_EQ(recalls(10), (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(recalls(100), (std::vector<double>{0, 0, 0}));
}

/// The expected numbers are those of pycocotools.
TEST(CocoMetric, HasTheNumbersOfTheReferenceImplementation) {
  std::vector<EvaluatedImage> images(20);
  for (int n = 0; n < 20; ++n) {
    EvaluatedImage& image = images[static_cast<std::size_t>(n)];
    for (int k = 0; k < 5; ++k) {
      const double x = (37 * n + 53 * k) % 200;
      const double y = (29 * n + 71 * k) % 200;
      const double width = 10 + (17 * n + 31 * k) % 150;
      const double height = 10 + (23 * n + 41 * k) % 150;
      image.objects.push_back({.box = box_at(x, y, width, height),
                               .category = 1 + (n + k) % 3,
                               .area = 0.75 * width * height,
                               .crowd = (n + 2 * k) % 11 == 0});
      for (int j = 0; j < 2; ++j) {
        const bool other = (n + k + j) % 6 == 0;
        image.detections.push_back({.box = box_at(x + k % 3 * width / 16 + j * height / 8,
                                                  y + n % 4 * height / 32, width, height + j * 5),
                                    .category = 1 + (n + k + (other ? 1 : 0)) % 3,
                                    .score = (13 * n + 7 * k + 31 * j) % 97 / 97.0});
      }
    }
  }
  constexpr std::array<double, 12> kExpected{0.360055485, 0.721271131, 0.284683738, 0.309794122,
                                             0.398752260, 0.322793832, 0.214336918, 0.623369176,
                                             0.623369176, 0.497222222, 0.624531025, 0.711111111};
  const CocoMetric metric = coco_metric(images);
  for (std::size_t i = 0; i < kExpected.size(); ++i) {
    EXPECT_NEAR(metric.values.at(i), kExpected.at(i), 1e-9) << CocoMetric::kNames.at(i);
  }
}

}  // namespace
}  // namespace bench
