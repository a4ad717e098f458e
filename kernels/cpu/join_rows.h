#pragma once

#include <cstdint>
#include <span>

#include "kernels/cpu/thread_team.h"
#include "models/base/dtype.h"

namespace bench::cpu {

/// A range of every row that JoinRows writes.
struct RowPart {
  /// Its row r begins at x + r * stride. Null means zeros.
  const void* x = nullptr;
  std::int64_t width = 0;
  std::int64_t stride = 0;
};

/// Concatenates the parts into every row of y; y's rows are dense. This implements concatenation,
/// slices and zero padding over the channels in every layout. A row is a pixel in nhwc and a sample
/// in nchw. In a blocked layout it is a sample if the parts are whole blocks. y must not overlap a
/// part. Waits.
struct JoinRows {
  /// The type of the parts and y: any. Widths and strides count elements.
  DType dtype = DType::f32;
  std::int64_t rows = 0;
  std::span<const RowPart> parts;
  void* y = nullptr;
};
void join_rows(ThreadTeam& team, const JoinRows& args);

}  // namespace bench::cpu
