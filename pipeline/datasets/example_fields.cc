#include "pipeline/datasets/example_fields.h"

namespace bench {

BadRecordError bad_record(const Record& record, BadRecord reason, const DataError& error) {
  return {reason, record.label != kLabelInside ? fmt::format("{}: {}", *record.file, error.what())
                                               : fmt::format("{}, offset {}: {}", *record.file,
                                                             record.offset, error.what())};
}

std::string_view image_of(const FeatureView& feature) {
  if (feature.kind == FeatureView::Kind::none) {
    throw DataError("image/encoded is missing");
  }
  if (feature.kind != FeatureView::Kind::bytes || feature.bytes.size() != 1) {
    throw DataError("image/encoded is not one byte string");
  }
  return feature.bytes.front();
}

void read_boxes(const ExampleScanner& scanner, std::size_t first, std::vector<RelativeBox>& boxes) {
  boxes.clear();
  const auto side = [&](std::size_t i) -> const FeatureView& { return scanner.feature(first + i); };
  const std::size_t count = side(0).floats.size();
  for (std::size_t i = 0; i < kBoxFeatures.size(); ++i) {
    const bool fits =
        side(i).kind == FeatureView::Kind::none || side(i).kind == FeatureView::Kind::floats;
    if (!fits || side(i).floats.size() != count) {
      throw DataError(
          "image/object/bbox: xmin, ymin, xmax and ymax must have the same number of floats");
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const RelativeBox box{.x_min = side(0).floats[i],
                          .y_min = side(1).floats[i],
                          .x_max = side(2).floats[i],
                          .y_max = side(3).floats[i]};
    const bool ordered = 0 <= box.x_min && box.x_min <= box.x_max && box.x_max <= 1 &&
                         0 <= box.y_min && box.y_min <= box.y_max && box.y_max <= 1;
    if (!ordered) {
      throw DataError(
          fmt::format("image/object/bbox: box {} has x from {:g} to {:g} and y from {:g} to "
                      "{:g}; 0 <= min <= max <= 1 is required",
                      i, box.x_min, box.x_max, box.y_min, box.y_max));
    }
    boxes.push_back(box);
  }
}

}  // namespace bench
