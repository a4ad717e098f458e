#include "kernels/cuda/cublas/cublas_products.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/cuda/cublas/algorithm.h"
#include "kernels/cuda/device/current_device.h"
#include "models/base/errors.h"

namespace bench::cuda {
namespace {

/// The size that cuBLAS's documentation advises for Hopper; older cards need less.
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;
/// The alignment of all our memory, in bytes.
constexpr std::size_t kAlignment = 256;
/// The most algorithms that are offered for one product.
constexpr int kMostAlgorithms = 16;

/// Formats 130100 as 13.1.0.
std::string version_text(std::size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

cudaDataType_t data_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return CUDA_R_32F;
    case DType::f16:
      return CUDA_R_16F;
    case DType::bf16:
      return CUDA_R_16BF;
    default:
      throw InternalError(
          fmt::format("cublaslt: products in {} are not supported", name_of(dtype)));
  }
}

/// A handle for the current device, created at its first use: planning needs no handle.
class Handle {
 public:
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (handle_ != nullptr) {
      static_cast<void>(cublasLtDestroy(handle_));
    }
  }
  cublasLtHandle_t get() {
    if (handle_ == nullptr) {
      check_cublas(cublasLtCreate(&handle_), "cublasLtCreate");
    }
    return handle_;
  }

 private:
  cublasLtHandle_t handle_ = nullptr;
};

/// A matrix as cuBLASLt describes it: column-major.
class MatrixLayout {
 public:
  MatrixLayout(DType dtype, std::int64_t rows, std::int64_t columns) {
    check_cublas(
        cublasLtMatrixLayoutCreate(&layout_, data_type(dtype), static_cast<std::uint64_t>(rows),
                                   static_cast<std::uint64_t>(columns), rows),
        "cublasLtMatrixLayoutCreate");
  }
  MatrixLayout(const MatrixLayout&) = delete;
  MatrixLayout& operator=(const MatrixLayout&) = delete;
  ~MatrixLayout() { static_cast<void>(cublasLtMatrixLayoutDestroy(layout_)); }
  [[nodiscard]] cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  cublasLtMatrixLayout_t layout_ = nullptr;
};

/// The operation on the matrices.
class MatmulDescriptor {
 public:
  explicit MatmulDescriptor(cublasComputeType_t compute) {
    check_cublas(cublasLtMatmulDescCreate(&descriptor_, compute, CUDA_R_32F),
                 "cublasLtMatmulDescCreate");
  }
  MatmulDescriptor(const MatmulDescriptor&) = delete;
  MatmulDescriptor& operator=(const MatmulDescriptor&) = delete;
  ~MatmulDescriptor() { static_cast<void>(cublasLtMatmulDescDestroy(descriptor_)); }
  [[nodiscard]] cublasLtMatmulDesc_t get() const { return descriptor_; }

  template <class T>
  void set(cublasLtMatmulDescAttributes_t name, const T& value) {
    check_cublas(cublasLtMatmulDescSetAttribute(descriptor_, name, &value, sizeof(value)),
                 "cublasLtMatmulDescSetAttribute");
  }

 private:
  cublasLtMatmulDesc_t descriptor_ = nullptr;
};

/// What the heuristic may choose from.
class Preference {
 public:
  Preference() {
    check_cublas(cublasLtMatmulPreferenceCreate(&preference_), "cublasLtMatmulPreferenceCreate");
  }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;
  ~Preference() { static_cast<void>(cublasLtMatmulPreferenceDestroy(preference_)); }
  [[nodiscard]] cublasLtMatmulPreference_t get() const { return preference_; }

  template <class T>
  void set(cublasLtMatmulPreferenceAttributes_t name, const T& value) {
    check_cublas(cublasLtMatmulPreferenceSetAttribute(preference_, name, &value, sizeof(value)),
                 "cublasLtMatmulPreferenceSetAttribute");
  }

 private:
  cublasLtMatmulPreference_t preference_ = nullptr;
};

cublasComputeType_t compute_type(DType dtype, bool tf32) {
  return dtype == DType::f32 && tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

cublasLtEpilogue_t epilogue_of(const ProductProblem& problem) {
  if (problem.bias) {
    return problem.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  }
  return problem.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

/// A product as the library describes it: its matrices and bias are column-major. Our row-major
/// matrices are their transposes in column-major order, and c^T = b^T * a^T. So our b is its first
/// factor, and our bias is the bias of its rows.
class Product {
 public:
  Product(const ProductProblem& problem, bool tf32)
      : bias_is_added_(problem.bias),
        matmul_(compute_type(problem.dtype, tf32)),
        first_(problem.dtype, problem.transposed_b ? problem.depth : problem.columns,
               problem.transposed_b ? problem.columns : problem.depth),
        second_(problem.dtype, problem.transposed_a ? problem.rows : problem.depth,
                problem.transposed_a ? problem.depth : problem.rows),
        result_(problem.result, problem.columns, problem.rows) {
    matmul_.set(CUBLASLT_MATMUL_DESC_TRANSA, problem.transposed_b ? CUBLAS_OP_T : CUBLAS_OP_N);
    matmul_.set(CUBLASLT_MATMUL_DESC_TRANSB, problem.transposed_a ? CUBLAS_OP_T : CUBLAS_OP_N);
    matmul_.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(problem));
    if (problem.bias) {
      // The heuristic looks only at its alignment.
      alignas(kAlignment) static constexpr float kAnyBias = 0;
      set_bias(&kAnyBias);
    }
  }

  void launch(cublasLtHandle_t handle, const cublasLtMatmulHeuristicResult_t& algorithm,
              cudaStream_t stream, const ProductMemory& memory) {
    if (bias_is_added_ && memory.bias != bias_) {
      set_bias(memory.bias);
    }
    const float one = 1;
    const float zero = 0;
    check_cublas(
        cublasLtMatmul(handle, matmul_.get(), &one, memory.b, first_.get(), memory.a, second_.get(),
                       &zero, memory.c, result_.get(), memory.c, result_.get(), &algorithm.algo,
                       memory.workspace, algorithm.workspaceSize, stream),
        "cublasLtMatmul");
  }

  /// The algorithms that the library's heuristic names for the current device and that give the
  /// same bits each time, best first. May be empty.
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms(cublasLtHandle_t handle) {
    Preference preference;
    preference.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{kWorkspaceBytes});
    // Partial sums stay in f32 and are added in a fixed order.
    preference.set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                   std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    std::vector<cublasLtMatmulHeuristicResult_t> found(kMostAlgorithms);
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle, matmul_.get(), first_.get(), second_.get(), result_.get(), result_.get(),
        preference.get(), kMostAlgorithms, found.data(), &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) {
      return {};
    }
    check_cublas(status, "cublasLtMatmulAlgoGetHeuristic");
    found.resize(static_cast<std::size_t>(count));
    std::erase_if(found, [](const cublasLtMatmulHeuristicResult_t& each) {
      // The mask is only a preference.
      return each.state != CUBLAS_STATUS_SUCCESS || !repeats(each.algo);
    });
    return found;
  }

 private:
  void set_bias(const float* bias) {
    matmul_.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    bias_ = bias;
  }

  bool bias_is_added_;
  MatmulDescriptor matmul_;
  MatrixLayout first_;
  MatrixLayout second_;
  MatrixLayout result_;
  /// The pointer that matmul_ has.
  const float* bias_ = nullptr;
};

class CublasPlan final : public ProductPlan {
 public:
  CublasPlan(std::shared_ptr<Handle> handle, const ProductProblem& problem, bool tf32,
             const cublasLtMatmulHeuristicResult_t& algorithm)
      : handle_(std::move(handle)), product_(problem, tf32), algorithm_(algorithm) {}

  void launch(cudaStream_t stream, const ProductMemory& memory) override {
    product_.launch(handle_->get(), algorithm_, stream, memory);
  }

 private:
  std::shared_ptr<Handle> handle_;
  Product product_;
  cublasLtMatmulHeuristicResult_t algorithm_;
};

class CublasProducts final : public Products {
 public:
  CublasProducts(const DeviceProperties& device, bool tf32)
      : pci_bus_id_(device.pci_bus_id), tf32_(tf32) {}

  std::vector<ProductChoice> choices(const ProductProblem& problem) override {
    const bool known = problem.dtype == DType::f32 || is_half(problem.dtype);
    const bool result = problem.result == problem.dtype || problem.result == DType::f32;
    const bool bias = !problem.bias || problem.result == DType::f32;
    if (!known || !result || !bias) {
      return {};
    }
    if (pci_bus_id_.empty()) {
      return {{.implementation = "cublaslt",
               .workspace_bytes = kWorkspaceBytes,
               .make = []() -> std::unique_ptr<ProductPlan> {
                 throw InternalError(
                     "cublaslt: cannot make a plan for a device that is only described");
               }}};
    }
    const CurrentDevice current(pci_bus_id_);
    std::vector<ProductChoice> found;
    for (const auto& algorithm : Product(problem, tf32_).algorithms(handle_->get())) {
      found.push_back({.implementation = algorithm_name(algorithm.algo),
                       .workspace_bytes = algorithm.workspaceSize,
                       .make = [handle = handle_, problem, tf32 = tf32_, algorithm] {
                         return std::make_unique<CublasPlan>(handle, problem, tf32, algorithm);
                       }});
    }
    return found;
  }

  [[nodiscard]] std::string version() const override { return version_text(cublasLtGetVersion()); }

 private:
  /// Empty for a device that is only described.
  std::string pci_bus_id_;
  bool tf32_;
  /// Outlives the plans.
  std::shared_ptr<Handle> handle_ = std::make_shared<Handle>();
};

}  // namespace

void check_cublas_version(std::size_t version) {
  constexpr std::size_t kMajor = 10000;
  if (version / kMajor != CUBLAS_VER_MAJOR) {
    throw UsageError(fmt::format(
        "this program was built with cuBLASLt {} and needs version {}.x, but found cuBLASLt {}",
        version_text(CUBLAS_VERSION), CUBLAS_VER_MAJOR, version_text(version)));
  }
}

std::string cublas_version() {
  return fmt::format("cuBLASLt {}", version_text(cublasLtGetVersion()));
}

void check_cublas_version() { check_cublas_version(cublasLtGetVersion()); }

std::unique_ptr<Products> make_cublas_products(const DeviceProperties& device, bool tf32) {
  check_cublas_version();
  return std::make_unique<CublasProducts>(device, tf32);
}

}  // namespace bench::cuda
