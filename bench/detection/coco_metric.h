#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/detection/detections.h"
#include "models/base/box.h"

namespace bench {

/// An object that an image has.
struct TrueObject {
  Box box;                    ///< in pixels
  std::int32_t category = 0;  ///< from 1
  /// In square pixels: of the object's outline, if it is known, else of the box.
  double area = 0;
  /// A group of objects, which any number of detections may match without effect.
  bool crowd = false;
};

/// An image with its objects, and with what a network found. All boxes are in pixels, unlike those
/// of find_objects().
struct EvaluatedImage {
  std::vector<TrueObject> objects;
  std::vector<Detection> detections;
};

/// The twelve numbers of the COCO challenge (cocodataset.org/#detection-eval), in its order, each
/// from 0 to 1, or -1 if no object counts.
struct CocoMetric {
  static constexpr std::array<std::string_view, 12> kNames{"AP",       "AP50", "AP75",   "APs",
                                                           "APm",      "APl",  "ARmax1", "ARmax10",
                                                           "ARmax100", "ARs",  "ARm",    "ARl"};
  std::array<double, 12> values{};

  /// The mean of the average precision over ten limits of the overlap and over all classes.
  [[nodiscard]] double average_precision() const { return values[0]; }
};

CocoMetric coco_metric(const std::vector<EvaluatedImage>& images);

}  // namespace bench
