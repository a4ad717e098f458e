#pragma once

#include <cstdint>
#include <span>

#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"

namespace bench::cpu {

/// A stretch of every row that JoinRows writes.
struct RowPart {
  /// Row r of it begins at x + r * stride. Null: zeros.
  const void* x = nullptr;
  std::int64_t width = 0;
  std::int64_t stride = 0;
};

/// Every row of y is its parts, one behind the other; y's rows are dense. Concatenation, slices and
/// zero padding over the channels are this, whatever the layout: a row is a pixel in nhwc, a sample
/// in nchw, and a sample too in a blocked layout if the parts are whole blocks. y overlaps no part.
/// Waits.
struct JoinRows {
  /// Of the parts and y, any type; widths and strides count elements.
  DType dtype = DType::f32;
  std::int64_t rows = 0;
  std::span<const RowPart> parts;
  void* y = nullptr;
};
void join_rows(ThreadTeam& team, const JoinRows& args);

}  // namespace bench::cpu
