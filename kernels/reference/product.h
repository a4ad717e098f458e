#pragma once

#include <cstdint>

#include "kernels/reference/crew.h"

namespace bench::reference {

/// A matrix with its elements at data[row * row_stride + column * column_stride].
struct Factor {
  const double* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;

  [[nodiscard]] Factor transposed() const { return {data, column_stride, row_stride}; }
};

/// c = a * b, or c += a * b, for a of rows x depth and b of depth x columns. Each element is summed
/// in the order of the depth. c must not overlap a or b.
struct Product {
  std::int64_t rows = 0;
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  Factor a = {};
  Factor b = {};
  double* c = nullptr;
  /// The row stride of c; its columns are contiguous.
  std::int64_t row_stride = 0;
  bool add = false;
};

/// Doubles of scratch memory that multiply() needs.
std::int64_t product_scratch(std::int64_t depth);
/// Runs on the calling thread, with the widest instructions of the processor.
void multiply(const Product& product, double* scratch);
/// Divides the rows among the threads of the crew.
void multiply(const Crew& crew, const Product& product);

}  // namespace bench::reference
