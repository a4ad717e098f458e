#include <cstring>

#include "kernels/core_build.h"
#include "kernels/cuda/backend/provider.h"
#include "kernels/cuda/cublas/cublas_products.h"
#include "kernels/cuda/cudnn/cudnn_convolutions.h"
#include "kernels/cuda/cudnn/cudnn_rnn_layers.h"
#include "models/base/errors.h"

/// See GpuProviderEntry.
extern "C" bench::GpuProvider* bench_gpu_provider(const char* build);

bench::GpuProvider* bench_gpu_provider(const char* build) {
  using namespace bench::cuda;
  if (std::strcmp(build, bench::kCoreBuild) != 0) {
    return nullptr;
  }
  static const std::unique_ptr<bench::GpuProvider> kProvider =
      make_provider({.convolutions = make_cudnn_convolutions,
                     .products = make_cublas_products,
                     .rnn_layers = make_cudnn_rnn_layers,
                     .versions = fmt::format("{}, {}", cudnn_version(), cublas_version()),
                     .check_versions = [] {
                       check_cudnn_version();
                       check_cublas_version();
                     }});
  return kProvider.get();
}
