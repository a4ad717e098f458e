#include "kernels/cuda/cublas/algorithm.h"

#include <cstdint>

#include "models/base/errors.h"

namespace bench::cuda {
namespace {

template <class T>
T setting(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t name) {
  T value{};
  std::size_t written = 0;
  check_cublas(
      cublasLtMatmulAlgoConfigGetAttribute(&algorithm, name, &value, sizeof(value), &written),
      "cublasLtMatmulAlgoConfigGetAttribute");
  return value;
}

std::string part(std::string_view name, std::int64_t value, std::int64_t usual = 0) {
  return value == usual ? "" : fmt::format(":{}{}", name, value);
}

}  // namespace

void check_cublas(cublasStatus_t status, std::string_view call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw DeviceError(fmt::format("{}: {} ({})", call, cublasLtGetStatusString(status),
                                  cublasLtGetStatusName(status)));
  }
}

std::string algorithm_name(const cublasLtMatmulAlgo_t& algorithm) {
  const auto small = [&](cublasLtMatmulAlgoConfigAttributes_t name) {
    return setting<std::uint16_t>(algorithm, name);
  };
  const auto number = [&](cublasLtMatmulAlgoConfigAttributes_t name) {
    return setting<std::uint32_t>(algorithm, name);
  };
  constexpr std::int64_t kUnsplit = 1;
  return fmt::format(
      "cublaslt:algo{}{}{}{}{}{}{}{}{}", setting<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_ID),
      part("tile", number(CUBLASLT_ALGO_CONFIG_TILE_ID)),
      part("stages", number(CUBLASLT_ALGO_CONFIG_STAGES_ID)),
      part("split", setting<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM), kUnsplit),
      part("reduce", number(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME)),
      part("swizzle", number(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING)),
      part("custom", number(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION)),
      part("inner", small(CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID)),
      part("cluster", small(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID)));
}

bool repeats(const cublasLtMatmulAlgo_t& algorithm) {
  const auto scheme = setting<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME);
  return (scheme & CUBLASLT_REDUCTION_SCHEME_INPLACE) == 0;
}

}  // namespace bench::cuda
