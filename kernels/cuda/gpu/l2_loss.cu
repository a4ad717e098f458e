#include <algorithm>

#include "kernels/cuda/gpu/block_reduction.h"
#include "kernels/cuda/gpu/element.h"
#include "kernels/cuda/gpu/loss.h"

namespace bench::cuda {
namespace {

constexpr int kPack = kWidest<float>;
constexpr unsigned kLanes = 256;

/// The most tensors of one launch; a network has a few hundred.
constexpr int kMostTensors = 640;

/// Which blocks sum which tensors. It is passed as a kernel parameter; all parameters together are
/// limited to 32,764 bytes.
struct L2Table {
  Floats tensors[kMostTensors];
  /// Each tensor's first block, then the number of blocks.
  unsigned first_block[kMostTensors + 1] = {};
  int count = 0;
};
static_assert(sizeof(L2Table) < 32000);

std::int64_t blocks_of(std::int64_t elements) {
  constexpr std::int64_t kElementsPerBlock = 16384;
  // A larger tensor's blocks loop over the remainder.
  constexpr std::int64_t kMost = 1024;
  return std::min(kMost, (elements + kElementsPerBlock - 1) / kElementsPerBlock);
}

__global__ void squares_kernel(const L2Table table, float* __restrict__ sums) {
  int tensor = 0;
  for (int end = table.count; end - tensor > 1;) {
    const int middle = (tensor + end) / 2;
    if (table.first_block[middle] <= blockIdx.x) {
      tensor = middle;
    } else {
      end = middle;
    }
  }
  const float* const data = table.tensors[tensor].data;
  const std::int64_t count = table.tensors[tensor].count;
  const unsigned block = blockIdx.x - table.first_block[tensor];
  const std::int64_t lanes =
      std::int64_t{table.first_block[tensor + 1] - table.first_block[tensor]} * blockDim.x;
  const std::int64_t lane = std::int64_t{block} * blockDim.x + threadIdx.x;
  const std::int64_t packs = count / kPack;
  float of_packs[kPack] = {};
  for (std::int64_t i = lane; i < packs; i += lanes) {
    const auto loaded = load_pack<kPack>(data + i * kPack);
    for (int j = 0; j < kPack; ++j) {
      of_packs[j] = fmaf(loaded.values[j], loaded.values[j], of_packs[j]);
    }
  }
  float sum = 0;
  for (int j = 0; j < kPack; ++j) {
    sum += of_packs[j];
  }
  if (lane < count - packs * kPack) {
    const float last = data[packs * kPack + lane];
    sum = fmaf(last, last, sum);
  }
  sum = combined_over_block(sum, Sum());
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
  }
}

__global__ void l2_backward_kernel(const float* w, std::int64_t count, float coefficient,
                                   const float* dloss, float* dw) {
  const float factor = coefficient * *dloss;
  const std::int64_t lane = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t packs = count / kPack;
  for (std::int64_t i = lane; i < packs; i += std::int64_t{gridDim.x} * blockDim.x) {
    auto values = load_pack<kPack>(w + i * kPack);
    for (int j = 0; j < kPack; ++j) {
      values.values[j] *= factor;
    }
    store_pack(dw + i * kPack, values);
  }
  if (lane < count - packs * kPack) {
    dw[packs * kPack + lane] = w[packs * kPack + lane] * factor;
  }
}

}  // namespace

void l2_loss_forward(cudaStream_t stream, const L2Loss& args) {
  auto* const sums = static_cast<float*>(args.workspace);
  std::int64_t blocks = 0;
  L2Table table;
  const auto flush = [&] {
    if (table.count > 0) {
      const unsigned of_table = table.first_block[table.count];
      launch(stream, {"l2_loss", dim3(of_table), dim3(kLanes)}, squares_kernel, table,
             sums + blocks);
      blocks += of_table;
    }
    table.count = 0;
  };
  for (const Floats& tensor : args.tensors) {
    if (tensor.count == 0) {
      continue;
    }
    table.tensors[table.count] = tensor;
    table.first_block[table.count + 1] =
        table.first_block[table.count] + static_cast<unsigned>(blocks_of(tensor.count));
    if (++table.count == kMostTensors) {
      flush();
    }
  }
  flush();
  join_sums(stream,
            {.values = sums, .count = blocks, .factor = args.coefficient / 2, .result = args.loss});
}

std::size_t l2_loss_workspace_bytes(std::span<const Floats> tensors) {
  std::int64_t blocks = 0;
  for (const Floats& tensor : tensors) {
    blocks += blocks_of(tensor.count);
  }
  return static_cast<std::size_t>(blocks) * sizeof(float);
}

int l2_loss_launches(std::span<const Floats> tensors) {
  const auto filled =
      std::ranges::count_if(tensors, [](const Floats& tensor) { return tensor.count > 0; });
  return static_cast<int>((filled + kMostTensors - 1) / kMostTensors) + 1;
}

void l2_loss_gradient(cudaStream_t stream, const L2LossBackward& args) {
  constexpr std::int64_t kPerBlock = std::int64_t{4} * kLanes * kPack;
  launch(stream, {"l2_loss_backward", dim3(blocks_for(args.w.count, kPerBlock)), dim3(kLanes)},
         l2_backward_kernel, args.w.data, args.w.count, static_cast<float>(args.coefficient),
         args.dloss, args.dw);
}

}  // namespace bench::cuda
