#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "models/base/errors.h"
#include "pipeline/bad_records.h"
#include "pipeline/formats/example_scanner.h"
#include "pipeline/stages/crop_window.h"
#include "pipeline/stages/record_stream.h"

namespace bench {

/// The error for a record that cannot be used, with file and offset.
BadRecordError bad_record(const Record& record, BadRecord reason, const DataError& error);

/// The encoded image of the feature image/encoded. Throws DataError without file and offset.
std::string_view image_of(const FeatureView& feature);

/// The features of the boxes' sides, in this order.
inline constexpr std::array<const char*, 4> kBoxFeatures{
    "image/object/bbox/xmin", "image/object/bbox/ymin", "image/object/bbox/xmax",
    "image/object/bbox/ymax"};

/// Replaces `boxes` by those of an Example. Their features are number `first` of the scanner and
/// the next ones. Missing features mean no boxes. Throws DataError without file and offset.
void read_boxes(const ExampleScanner& scanner, std::size_t first, std::vector<RelativeBox>& boxes);

}  // namespace bench
