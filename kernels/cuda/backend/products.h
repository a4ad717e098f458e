#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/device/runtime.h"
#include "models/base/dtype.h"

namespace bench::cuda {

/// c[rows x columns] = a * b, all row-major, with sums in f32. In memory `a` is rows x depth, or
/// depth x rows if transposed; `b` is depth x columns, or columns x depth if transposed.
struct ProductProblem {
  DType dtype = DType::f32;
  /// The type of c: that of a and b, or f32.
  DType result = DType::f32;
  std::int64_t rows = 0;
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  bool transposed_a = false;
  bool transposed_b = false;
  /// True if a vector of `columns` f32 elements is added to each row of c.
  bool bias = false;
  /// True if negative results become 0, after the bias.
  bool relu = false;
  bool operator==(const ProductProblem&) const = default;
};

struct ProductMemory {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  const float* bias = nullptr;
  void* workspace = nullptr;
};

/// A way to run a product on a device; made once, launched every step.
class ProductPlan {
 public:
  ProductPlan() = default;
  ProductPlan(const ProductPlan&) = delete;
  ProductPlan& operator=(const ProductPlan&) = delete;
  virtual ~ProductPlan() = default;
  /// Enqueues and does not wait. Overwrites c.
  virtual void launch(cudaStream_t stream, const ProductMemory& memory) = 0;
};

struct ProductChoice {
  /// E.g. "cublaslt:algo66:tile20:stages35".
  std::string implementation;
  std::size_t workspace_bytes = 0;
  /// True if each launch on the same inputs gives the same bits.
  bool deterministic = true;
  std::function<std::unique_ptr<ProductPlan>()> make;
};

/// The source of matrix products: cuBLASLt, or plain loops on an emulated GPU.
class Products {
 public:
  Products() = default;
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  virtual ~Products() = default;
  /// The choices with distinct names, best first; may be empty. Non-deterministic choices come
  /// last, so that only timing selects one. Needs no GPU for a device that is only described.
  virtual std::vector<ProductChoice> choices(const ProductProblem& problem) = 0;
  [[nodiscard]] virtual std::string version() const = 0;
};

}  // namespace bench::cuda
