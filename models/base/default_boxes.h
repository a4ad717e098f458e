#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/base/box.h"

namespace bench {

/// One of SSD300's maps, with a cell per `step` pixels of an image of 300 x 300.
struct DefaultBoxMap {
  std::int64_t cells = 0;  ///< along each side
  std::int64_t step = 0;
  std::int64_t scale = 0;  ///< the side of the smaller square box, in pixels
  std::int64_t next_scale = 0;
  /// Boxes of the same area with the sides in this proportion, in both directions; 0: none.
  std::array<std::int64_t, 2> proportions{};

  /// Two squares, and two boxes for each proportion.
  [[nodiscard]] constexpr std::int64_t boxes_per_cell() const {
    return 2 + (proportions[0] > 0 ? 2 : 0) + (proportions[1] > 0 ? 2 : 0);
  }
};

inline constexpr std::int64_t kSsdImageSize = 300;
/// The maps of MLPerf's reference.
inline constexpr std::array<DefaultBoxMap, 6> kDefaultBoxMaps{{
    {.cells = 38, .step = 8, .scale = 21, .next_scale = 45, .proportions = {2, 0}},
    {.cells = 19, .step = 16, .scale = 45, .next_scale = 99, .proportions = {2, 3}},
    {.cells = 10, .step = 32, .scale = 99, .next_scale = 153, .proportions = {2, 3}},
    {.cells = 5, .step = 64, .scale = 153, .next_scale = 207, .proportions = {2, 3}},
    {.cells = 3, .step = 100, .scale = 207, .next_scale = 261, .proportions = {2, 0}},
    {.cells = 1, .step = 300, .scale = 261, .next_scale = 315, .proportions = {2, 0}},
}};

inline constexpr std::int64_t kDefaultBoxes = [] {
  std::int64_t boxes = 0;
  for (const DefaultBoxMap& map : kDefaultBoxMaps) {
    boxes += map.cells * map.cells * map.boxes_per_cell();
  }
  return boxes;
}();
static_assert(kDefaultBoxes == 8732);

/// All default boxes, in shares of the image's height and width; Liu et al., arXiv:1512.02325,
/// section 2.2. Their order is: maps, boxes of a cell, rows, columns. Values above 1 are cut to 1.
const std::vector<CenteredBox>& default_boxes();

/// A box's offsets from a default box, as the network predicts them:
///
/// - 10 times the distances of the centres in y and x, as shares of the default box's sides;
/// - 5 times the logarithms of the ratios of heights and widths.
using BoxOffsets = std::array<float, 4>;
BoxOffsets offsets_of(const Box& box, const CenteredBox& default_box);
/// The reverse.
CenteredBox box_at(std::span<const float, 4> offsets, const CenteredBox& default_box);

/// For each default box, the object that it matches, or -1. A default box matches the object with
/// the largest intersection over union if this is at least 0.5. Each object also gets its best
/// default box, the first object if several want the same. Ties go to the first.
std::vector<std::int32_t> match_default_boxes(std::span<const Box> objects);

}  // namespace bench
