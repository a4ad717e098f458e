#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/gpu/view.h"
#include "models/base/dtype.h"

namespace bench::cuda {

/// Elements in f32, f16 or bf16.
std::vector<double> read_elements(const void* from, DType dtype, std::int64_t count);
/// Rounds each value to the nearest of the type.
void write_elements(std::span<const float> values, DType dtype, void* to);

/// A tensor's elements, reordered to N, C, H, W; the extents are given in that order.
std::vector<double> read_tensor(const void* from, DType dtype,
                                const std::array<std::int64_t, 4>& extents, Order order);

/// Scratch memory of a library whose kernels sum in f32. NaNs reveal a use of its old contents.
class EmulatedWorkspace {
 public:
  /// The workspace of `count` sums.
  static std::size_t bytes(std::int64_t count);
  /// Fills the memory, at least bytes(count), with NaNs.
  EmulatedWorkspace(void* memory, std::int64_t count);
  [[nodiscard]] std::span<float> sums() const { return sums_; }

 private:
  std::span<float> sums_;
};

}  // namespace bench::cuda
