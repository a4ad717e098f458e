#pragma once

#include "kernels/cuda/device/device_api.h"

namespace bench::cuda {

/// The places of a matrix that one lane visits: every `step`-th in row-major order, starting at
/// `first`. It divides only at construction, not when it advances.
class Walk {
 public:
  __device__ Walk(unsigned columns, unsigned first, unsigned step)
      : columns_(columns),
        step_rows_(step / columns),
        step_columns_(step - step_rows_ * columns),
        row_(first / columns),
        column_(first - row_ * columns) {}

  [[nodiscard]] __device__ unsigned row() const { return row_; }
  [[nodiscard]] __device__ unsigned column() const { return column_; }
  __device__ void advance() {
    row_ += step_rows_;
    column_ += step_columns_;
    if (column_ >= columns_) {
      column_ -= columns_;
      ++row_;
    }
  }

 private:
  unsigned columns_;
  unsigned step_rows_;
  unsigned step_columns_;
  unsigned row_;
  unsigned column_;
};

}  // namespace bench::cuda
