#include "pipeline/stages/detection_crop.h"

#include <algorithm>
#include <array>

#include "models/base/box.h"

namespace bench {
namespace {

constexpr std::array<double, 6> kLeastOverlaps{0, 0.1, 0.3, 0.5, 0.7, 0.9};
constexpr int kAttempts = 50;
constexpr float kShortest = 0.3F;

Box box_of(const RelativeBox& box) {
  return {.y_min = static_cast<double>(box.y_min),
          .x_min = static_cast<double>(box.x_min),
          .y_max = static_cast<double>(box.y_max),
          .x_max = static_cast<double>(box.x_max)};
}

RelativeBox draw_window(RandomStream& random) {
  const float width = kShortest + (1 - kShortest) * random.uniform();
  const float height = kShortest + (1 - kShortest) * random.uniform();
  const float x = (1 - width) * random.uniform();
  const float y = (1 - height) * random.uniform();
  return {.x_min = x, .y_min = y, .x_max = x + width, .y_max = y + height};
}

bool has_centre(const RelativeBox& window, const RelativeBox& box) {
  const float x = (box.x_min + box.x_max) / 2;
  const float y = (box.y_min + box.y_max) / 2;
  return window.x_min < x && x < window.x_max && window.y_min < y && y < window.y_max;
}

bool is_valid(const RelativeBox& window, std::span<const RelativeBox> objects, double overlap) {
  const float width = window.x_max - window.x_min;
  const float height = window.y_max - window.y_min;
  return height < 2 * width && width < 2 * height &&
         std::ranges::all_of(objects,
                             [&](const RelativeBox& box) {
                               return intersection_over_union(box_of(window), box_of(box)) >
                                      overlap;
                             }) &&
         std::ranges::any_of(objects,
                             [&](const RelativeBox& box) { return has_centre(window, box); });
}

}  // namespace

DetectionCrop sample_detection_crop(std::span<const RelativeBox> objects, RandomStream& random) {
  DetectionCrop crop;
  bool whole = objects.empty() || random.below(kLeastOverlaps.size() + 1) == 0;
  for (bool found = whole; !found;) {
    const double overlap = kLeastOverlaps.at(random.below(kLeastOverlaps.size()));
    for (int i = 0; i < kAttempts && !found; ++i) {
      crop.window = draw_window(random);
      found = is_valid(crop.window, objects, overlap);
    }
    whole = !found && random.below(kLeastOverlaps.size() + 1) == 0;
    found = found || whole;
  }
  if (whole) {
    crop.window = {};
  }
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (whole || has_centre(crop.window, objects[i])) {
      crop.objects.push_back(i);
    }
  }
  return crop;
}

RelativeBox box_in_window(const RelativeBox& box, const RelativeBox& window) {
  const float width = window.x_max - window.x_min;
  const float height = window.y_max - window.y_min;
  return {.x_min = (std::max(box.x_min, window.x_min) - window.x_min) / width,
          .y_min = (std::max(box.y_min, window.y_min) - window.y_min) / height,
          .x_max = (std::min(box.x_max, window.x_max) - window.x_min) / width,
          .y_max = (std::min(box.y_max, window.y_max) - window.y_min) / height};
}

PixelWindow pixels_of(const RelativeBox& window, ImageSize image) {
  const auto begin = [](float share, int pixels) {
    return static_cast<int>(share * static_cast<float>(pixels - 1));
  };
  const auto count = [](float share, int pixels) {
    return std::max(static_cast<int>(share * static_cast<float>(pixels)), 1);
  };
  PixelWindow found{.x = begin(window.x_min, image.width),
                    .y = begin(window.y_min, image.height),
                    .width = count(window.x_max - window.x_min, image.width),
                    .height = count(window.y_max - window.y_min, image.height)};
  // Rounding may exceed the image by a pixel.
  found.width = std::min(found.width, image.width - found.x);
  found.height = std::min(found.height, image.height - found.y);
  return found;
}

}  // namespace bench
