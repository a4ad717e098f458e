#include "pipeline/stages/crop_window.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace bench {
namespace {

int round_to_int(float x) { return static_cast<int>(std::lrint(x)); }

int below(RandomStream& random, int bound) {
  return static_cast<int>(random.below(static_cast<std::uint32_t>(bound)));
}

/// A window of the given aspect at a random place, with an area within the limits.
std::optional<PixelWindow> draw_window(ImageSize image, float aspect, RandomStream& random,
                                       const DistortedBoxOptions& options) {
  const float image_area = static_cast<float>(image.width) * static_cast<float>(image.height);
  const float least_area = options.least_area * image_area;
  const float largest_area = options.largest_area * image_area;
  const auto width_for = [aspect](int height) {
    return round_to_int(static_cast<float>(height) * aspect);
  };

  int height_limit = round_to_int(std::sqrt(largest_area / aspect));
  if (width_for(height_limit) > image.width) {
    // The largest height whose rounded width still fits.
    height_limit = static_cast<int>((static_cast<float>(image.width) + 0.5F - 1e-7F) / aspect);
    if (width_for(height_limit) > image.width) {
      --height_limit;
    }
  }
  height_limit = std::min(height_limit, image.height);
  int height = std::min(round_to_int(std::sqrt(least_area / aspect)), height_limit);
  if (height < height_limit) {
    height += below(random, height_limit - height + 1);
  }
  const auto area_for = [&width_for](int h) {
    return static_cast<float>(width_for(h)) * static_cast<float>(h);
  };
  // Rounding may have moved the area slightly outside the limits.
  if (area_for(height) < least_area) {
    ++height;
  }
  if (area_for(height) > largest_area) {
    --height;
  }
  const int width = width_for(height);
  const float area = area_for(height);
  if (area < least_area || area > largest_area || width > image.width || height > image.height ||
      width <= 0 || height <= 0) {
    return std::nullopt;
  }
  const int y = height < image.height ? below(random, image.height - height) : 0;
  const int x = width < image.width ? below(random, image.width - width) : 0;
  return PixelWindow{.x = x, .y = y, .width = width, .height = height};
}

PixelWindow to_pixels(const RelativeBox& box, ImageSize image) {
  const auto width = static_cast<float>(image.width);
  const auto height = static_cast<float>(image.height);
  const int left = static_cast<int>(box.x_min * width);
  const int top = static_cast<int>(box.y_min * height);
  return {.x = left,
          .y = top,
          .width = static_cast<int>(box.x_max * width) - left,
          .height = static_cast<int>(box.y_max * height) - top};
}

float area_of(const PixelWindow& window) {
  return static_cast<float>(window.width) * static_cast<float>(window.height);
}

float common_area(const PixelWindow& a, const PixelWindow& b) {
  const int width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
  const int height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  return static_cast<float>(std::max(width, 0)) * static_cast<float>(std::max(height, 0));
}

bool covers_enough(const PixelWindow& window, std::span<const RelativeBox> boxes, ImageSize image,
                   float least_part) {
  return std::any_of(boxes.begin(), boxes.end(), [&](const RelativeBox& box) {
    const PixelWindow object = to_pixels(box, image);
    return object.width > 0 && object.height > 0 &&
           common_area(window, object) / area_of(object) >= least_part;
  });
}

}  // namespace

PixelWindow sample_distorted_box(ImageSize image, std::span<const RelativeBox> boxes,
                                 RandomStream& random, const DistortedBoxOptions& options) {
  const RelativeBox everything;
  if (boxes.empty()) {
    boxes = {&everything, 1};
  }
  for (int attempt = 0; attempt < options.attempts; ++attempt) {
    const float aspect =
        options.least_aspect + random.uniform() * (options.largest_aspect - options.least_aspect);
    const auto window = draw_window(image, aspect, random, options);
    if (window && covers_enough(*window, boxes, image, options.least_object_covered)) {
      return *window;
    }
  }
  return {.x = 0, .y = 0, .width = image.width, .height = image.height};
}

PixelWindow sample_window(ImageSize image, ImageSize size, RandomStream& random) {
  const int width = std::min(image.width, size.width);
  const int height = std::min(image.height, size.height);
  const int y = below(random, image.height - height + 1);
  const int x = below(random, image.width - width + 1);
  return {.x = x, .y = y, .width = width, .height = height};
}

PixelWindow central_window(ImageSize image, ImageSize size) {
  const int width = std::min(image.width, size.width);
  const int height = std::min(image.height, size.height);
  return {.x = (image.width - width) / 2,
          .y = (image.height - height) / 2,
          .width = width,
          .height = height};
}

}  // namespace bench
