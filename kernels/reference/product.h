#pragma once

#include <cstdint>

namespace bench::reference {

/// A matrix whose elements lie at data[row * row_stride + column * column_stride].
struct Factor {
  const double* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
};

/// c = a * b, or c += a * b, for a of rows x depth and b of depth x columns; each element is summed
/// in the order of the depth. c overlaps neither.
struct Product {
  std::int64_t rows = 0;
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  Factor a = {};
  Factor b = {};
  double* c = nullptr;
  /// Of c; its columns lie side by side.
  std::int64_t row_stride = 0;
  bool add = false;
};

/// Doubles of scratch memory that multiply() needs.
std::int64_t product_scratch(std::int64_t depth);
/// On the calling thread, with the widest instructions that the processor has.
void multiply(const Product& product, double* scratch);

}  // namespace bench::reference
