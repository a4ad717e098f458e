#include "kernels/cuda/gpu/loss.h"

#include <limits>

#include "kernels/cuda/gpu/block_reduction.h"
#include "kernels/cuda/gpu/element.h"

namespace bench::cuda {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// A block has one row; its lanes have packs of N classes.

template <int N>
__global__ void softmax_kernel(const float* logits, const std::int32_t* labels,
                               std::int64_t classes, float smoothing, float* probabilities,
                               float* losses) {
  const float* const row = logits + blockIdx.x * classes;
  const std::int64_t first = std::int64_t{threadIdx.x} * N;
  const std::int64_t step = std::int64_t{blockDim.x} * N;
  float largest = -kInfinity;
  for (std::int64_t i = first; i < classes; i += step) {
    const auto loaded = load_pack<N>(row + i);
    for (int j = 0; j < N; ++j) {
      largest = fmaxf(largest, loaded.values[j]);
    }
  }
  // Subtracted, so that no exponential overflows.
  largest = combined_over_block(largest, Largest());
  float sum = 0;
  float exponents = 0;
  for (std::int64_t i = first; i < classes; i += step) {
    const auto loaded = load_pack<N>(row + i);
    for (int j = 0; j < N; ++j) {
      const float exponent = loaded.values[j] - largest;
      sum += expf(exponent);
      exponents += exponent;
    }
  }
  sum = combined_over_block(sum, Sum());
  exponents = combined_over_block(exponents, Sum());
  if (threadIdx.x == 0) {
    const std::int32_t label = labels[blockIdx.x];
    float loss = kNaN;
    if (label >= 0 && label < classes) {
      float aimed_at = row[label] - largest;
      // Without smoothing, a logit of minus infinity affects the loss only if it is the label's.
      if (smoothing != 0) {
        aimed_at = (1 - smoothing) * aimed_at + smoothing * exponents / static_cast<float>(classes);
      }
      loss = logf(sum) - aimed_at;
    }
    losses[blockIdx.x] = loss;
  }
  // The probabilities may overwrite the label's logit, which has been read.
  __syncthreads();
  const float factor = 1.0F / sum;
  float* const result = probabilities + blockIdx.x * classes;
  for (std::int64_t i = first; i < classes; i += step) {
    auto values = load_pack<N>(row + i);
    for (int j = 0; j < N; ++j) {
      values.values[j] = expf(values.values[j] - largest) * factor;
    }
    store_pack(result + i, values);
  }
}

struct SoftmaxGradientFactors {
  /// weight / rows.
  float scale;
  float target;
  float target_of_label;
};

template <int N>
__global__ void softmax_backward_kernel(const float* probabilities, const std::int32_t* labels,
                                        const float* dloss, std::int64_t classes,
                                        SoftmaxGradientFactors factors, float* dlogits) {
  const float* const row = probabilities + blockIdx.x * classes;
  float* const result = dlogits + blockIdx.x * classes;
  const std::int64_t label = labels[blockIdx.x];
  const float factor = label >= 0 && label < classes ? factors.scale * *dloss : kNaN;
  for (std::int64_t i = std::int64_t{threadIdx.x} * N; i < classes;
       i += std::int64_t{blockDim.x} * N) {
    auto values = load_pack<N>(row + i);
    for (int j = 0; j < N; ++j) {
      const float target = i + j == label ? factors.target_of_label : factors.target;
      values.values[j] = (values.values[j] - target) * factor;
    }
    store_pack(result + i, values);
  }
}

template <int N>
__global__ void top_k_kernel(const float* __restrict__ logits, const std::int32_t* labels,
                             std::int64_t classes, std::int64_t k, float* hits) {
  const float* const row = logits + blockIdx.x * classes;
  const std::int32_t label = labels[blockIdx.x];
  const bool known = label >= 0 && label < classes;
  const float own = known ? row[label] : kNaN;
  int larger = 0;
  for (std::int64_t i = std::int64_t{threadIdx.x} * N; i < classes;
       i += std::int64_t{blockDim.x} * N) {
    const auto loaded = load_pack<N>(row + i);
    for (int j = 0; j < N; ++j) {
      larger += loaded.values[j] > own ? 1 : 0;
    }
  }
  // Exact up to 2^24 classes.
  const float all_larger = combined_over_block(static_cast<float>(larger), Sum());
  if (threadIdx.x == 0) {
    const bool hit = fabsf(own) < kInfinity && all_larger < static_cast<float>(k);
    hits[blockIdx.x] = known ? (hit ? 1.0F : 0.0F) : kNaN;
  }
}

__global__ void join_sums_kernel(const float* __restrict__ values, std::int64_t count, float factor,
                                 float divisor, float* result) {
  float sum = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) {
    sum += values[i];
  }
  sum = combined_over_block(sum, Sum());
  if (threadIdx.x == 0) {
    *result = factor * sum / divisor;
  }
}

/// Calls body with the number of classes in a pack.
template <class Body>
void with_pack_of_classes(std::int64_t classes, const Body& body) {
  if (classes % kWidest<float> == 0) {
    body(std::integral_constant<int, kWidest<float>>{});
  } else {
    body(std::integral_constant<int, 1>{});
  }
}

LaunchShape rows_shape(const char* kernel, std::int64_t rows, std::int64_t packs) {
  constexpr unsigned kMostLanes = 512;
  unsigned lanes = 32;
  while (lanes < kMostLanes && lanes < packs) {
    lanes *= 2;
  }
  return {kernel, dim3(static_cast<unsigned>(rows)), dim3(lanes)};
}

}  // namespace

void softmax_cross_entropy_forward(cudaStream_t stream, const SoftmaxCrossEntropy& args) {
  auto* const losses = static_cast<float*>(args.workspace);
  with_pack_of_classes(args.classes, [&](auto pack) {
    constexpr int kPack = decltype(pack)::value;
    launch(stream, rows_shape("softmax_cross_entropy", args.rows, args.classes / kPack),
           softmax_kernel<kPack>, args.logits, args.labels, args.classes,
           static_cast<float>(args.label_smoothing), args.probabilities, losses);
  });
  join_sums(stream, {.values = losses,
                     .count = args.rows,
                     .factor = args.weight,
                     .divisor = args.rows,
                     .result = args.loss});
}

void softmax_cross_entropy_gradient(cudaStream_t stream, const SoftmaxCrossEntropyBackward& args) {
  const double target = args.label_smoothing / static_cast<double>(args.classes);
  const SoftmaxGradientFactors factors{
      .scale = static_cast<float>(args.weight / static_cast<double>(args.rows)),
      .target = static_cast<float>(target),
      .target_of_label = static_cast<float>(1 - args.label_smoothing + target)};
  with_pack_of_classes(args.classes, [&](auto pack) {
    constexpr int kPack = decltype(pack)::value;
    launch(stream, rows_shape("softmax_cross_entropy_backward", args.rows, args.classes / kPack),
           softmax_backward_kernel<kPack>, args.probabilities, args.labels, args.dloss,
           args.classes, factors, args.dlogits);
  });
}

void top_k_share(cudaStream_t stream, const TopKAccuracy& args) {
  auto* const hits = static_cast<float*>(args.workspace);
  with_pack_of_classes(args.classes, [&](auto pack) {
    constexpr int kPack = decltype(pack)::value;
    launch(stream, rows_shape("top_k_accuracy", args.rows, args.classes / kPack),
           top_k_kernel<kPack>, args.logits, args.labels, args.classes, args.k, hits);
  });
  join_sums(stream,
            {.values = hits, .count = args.rows, .divisor = args.rows, .result = args.share});
}

std::size_t row_workspace_bytes(std::int64_t rows) {
  return static_cast<std::size_t>(rows) * sizeof(float);
}

void join_sums(cudaStream_t stream, const JoinedSums& args) {
  constexpr unsigned kLanes = 512;
  launch(stream, {"join_sums", dim3(1), dim3(kLanes)}, join_sums_kernel, args.values, args.count,
         static_cast<float>(args.factor), static_cast<float>(args.divisor), args.result);
}

}  // namespace bench::cuda
