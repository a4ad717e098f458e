#include "kernels/cuda/gpu/joined_tiling.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/gpu_emulator/libraries/emulated_backend.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/test/case_runner.h"
#include "models/ops/batch_norm.h"

namespace bench::cuda {
namespace {

/// Identical batch norms of ResNet-50 v1.5.
struct Layers {
  std::int64_t channels;
  std::int64_t side;
  int count;
};

const std::vector<Layers>& layers_of_resnet50() {
  static const std::vector<Layers> kLayers{{64, 112, 1},  {64, 56, 6},  {256, 56, 4}, {128, 56, 1},
                                           {128, 28, 7},  {512, 28, 5}, {256, 28, 1}, {256, 14, 11},
                                           {1024, 14, 7}, {512, 14, 1}, {512, 7, 5},  {2048, 7, 4}};
  return kLayers;
}

/// How many of the 53 layers are joined by their last blocks.
int joined_by_last_blocks(std::int64_t batch, Order order, DType dtype) {
  int joined = 0;
  for (const Layers& layers : layers_of_resnet50()) {
    const View view{.order = order,
                    .batch = batch,
                    .channels = layers.channels,
                    .spatial = layers.side * layers.side};
    joined += joined_tiling(view, dtype).by_last_block ? layers.count : 0;
  }
  return joined;
}

// A batch norm needs two launches forward and two backward, and a third one in each pass if a
// separate kernel joins the sums. Together these are 226 launches for the first line.
TEST(JoinedTiling, JoinsMostLayersOfResNet50) {
  EXPECT_EQ(joined_by_last_blocks(256, Order::nhwc, DType::f16), 46);
  EXPECT_EQ(joined_by_last_blocks(256, Order::nhwc, DType::f32), 53);
  EXPECT_EQ(joined_by_last_blocks(256, Order::nchw, DType::f16), 53);
  EXPECT_EQ(joined_by_last_blocks(4, Order::nhwc, DType::f16), 52);
}

TEST(JoinedTiling, ReadsAtMost64KibibytesAndLeavesBlocksForALargeGpu) {
  for (const DType dtype : {DType::f16, DType::f32}) {
    for (const Order order : {Order::nchw, Order::nhwc}) {
      for (const std::int64_t batch : {1, 16, 64, 256, 1024}) {
        for (const Layers& layers : layers_of_resnet50()) {
          const View view{.order = order,
                          .batch = batch,
                          .channels = layers.channels,
                          .spatial = layers.side * layers.side};
          const JoinedTiling joined = joined_tiling(view, dtype);
          const ChannelTiling& tiling = joined.tiling;
          const std::int64_t channels =
              order == Order::nhwc ? std::int64_t{tiling.lanes_x} * tiling.pack : 1;
          EXPECT_EQ(ticket_bytes(joined), joined.by_last_block ? 4 * tiling.tiles : 0);
          EXPECT_GE(tiling.units_per_chunk * tiling.chunks, tiling.units);
          if (joined.by_last_block) {
            EXPECT_LE(tiling.chunks * channels * 2 * 4, 64 << 10);
            const bool few =
                tiling.chunks == channel_tiling(view, dtype, kBlocksForSums, 128).chunks;
            EXPECT_TRUE(few || tiling.tiles * tiling.chunks >= 192)
                << tiling.tiles << " x " << tiling.chunks;
          }
        }
      }
    }
  }
}

/// A layer whose sums a separate kernel joins; the suite's layers are too small for that.
TEST(JoinedTiling, LeavesLargeLayersOfFewChannelsToAKernelThatJoins) {
  const Shape x{2, 64, 130, 130};
  ASSERT_FALSE(joined_tiling({.batch = x[0], .channels = x[1], .spatial = x[2] * x[3]}, DType::f16)
                   .by_last_block);
  const KernelCase large{.name = "batch_norm_large",
                         .op = &kBatchNorm,
                         .attributes = BatchNormAttributes{.scale = true},
                         .inputs = {{.shape = x}, {.shape = {x[1]}}, {.shape = {x[1]}}},
                         .fills = {{.mean = 3}, {.mean = 1, .scale = 0.5}, {}},
                         .weights = {1, 2},
                         .reduction = x[0] * x[2] * x[3]};
  const CaseData data = rounded(large, DType::f16, draw_case_data(large, test_seed()));
  const auto oracle = make_reference_backend();
  const auto device = make_emulated_backend();
  CaseRunner reference(large, {.dtype = DType::f64}, *oracle);
  CaseRunner runner(large, {.dtype = DType::f16, .format = DataFormat::nhwc}, *device);
  const CaseOutputs expected = reference.run(data);
  const CaseOutputs actual = runner.run(data);
  for (const auto& [name, values] : expected) {
    const Result kind = name.starts_with("out") ? Result::output : Result::gradient;
    EXPECT_EQ(compare(large, runner.precision(name), kind, actual.at(name), values), "") << name;
  }
  EXPECT_EQ(runner.run(data), actual);
}

}  // namespace
}  // namespace bench::cuda
