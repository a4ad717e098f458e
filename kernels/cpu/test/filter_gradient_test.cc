#include "kernels/cpu/filter_gradient.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "kernels/cpu/test/kernel_test.h"

namespace bench::cpu {
namespace {

using test::GuardedFloats;
using test::GuardedMemory;
using test::GuardedTensor;

constexpr std::int64_t kBlock = 16;

std::size_t place(std::int64_t i) { return static_cast<std::size_t>(i); }

bool runs_here(DType dtype) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bw") != 0 &&
         (dtype == DType::f32 || __builtin_cpu_supports("avx512bf16") != 0);
#else
  return false;
#endif
}

/// Numbers -4 to 4, whose sums are exact in f32 and which bf16 holds.
std::vector<float> whole_numbers(std::int64_t count, std::uint64_t seed) {
  std::vector<float> values = test::random_floats(count, seed, 0, 2);
  for (float& value : values) {
    value = std::clamp(std::round(value), -4.0F, 4.0F);
  }
  return values;
}

/// One of the blocked tensors.
struct Tensor {
  std::int64_t blocks, height, width;
  std::vector<float> values;

  [[nodiscard]] float at(std::int64_t n, std::int64_t channel, std::int64_t row,
                         std::int64_t column) const {
    if (row < 0 || row >= height || column < 0 || column >= width) {
      return 0;
    }
    const std::int64_t block = n * blocks + channel / kBlock;
    return values[place(((block * height + row) * width + column) * kBlock + channel % kBlock)];
  }
};

float expected(const FilterGradientShape& s, const Tensor& x, const Tensor& dy, std::int64_t output,
               std::int64_t input, std::int64_t tap) {
  float sum = 0;
  for (std::int64_t n = 0; n < s.batch; ++n) {
    for (std::int64_t row = 0; row < s.out_height; ++row) {
      for (std::int64_t column = 0; column < s.out_width; ++column) {
        sum += dy.at(n, output, row, column) * x.at(n, input, row * s.stride + tap / 3 - s.pad_top,
                                                    column * s.stride + tap % 3 - s.pad_left);
      }
    }
  }
  return sum;
}

class FilterGradientOf : public testing::TestWithParam<std::tuple<DType, FilterGradientShape>> {};

TEST_P(FilterGradientOf, IsTheSumOverAllPixels) {
  const auto& [dtype, s] = GetParam();
  if (!runs_here(dtype)) {
    GTEST_SKIP() << "this processor lacks the instructions";
  }
  const Tensor x{s.in_blocks, s.height, s.width,
                 whole_numbers(s.batch * s.in_blocks * s.height * s.width * kBlock, 1)};
  const Tensor dy{s.out_blocks, s.out_height, s.out_width,
                  whole_numbers(s.batch * s.out_blocks * s.out_height * s.out_width * kBlock, 2)};
  const GuardedTensor x_memory(dtype, x.values);
  const GuardedTensor dy_memory(dtype, dy.values);
  for (const int threads : {1, 2, 3}) {
    const auto plan = plan_filter_gradient(s, dtype, threads);
    ASSERT_TRUE(plan);
    ThreadTeam team(std::vector<int>(place(threads), 0), /*pin=*/false);
    const GuardedMemory workspace(plan->workspace_bytes);
    const GuardedFloats dw(s.out_blocks * s.in_blocks * 9 * kBlock * kBlock);
    filter_gradient(team, {.plan = *plan,
                           .x = x_memory.data(),
                           .dy = dy_memory.data(),
                           .dw = dw.data(),
                           .workspace = workspace.data()});
    EXPECT_TRUE(dw.intact());
    EXPECT_TRUE(workspace.intact());
    for (std::int64_t i = 0; i < dw.count(); ++i) {
      const std::int64_t filters = i / (9 * kBlock * kBlock);
      const std::int64_t output = filters / s.in_blocks * kBlock + i % kBlock;
      const std::int64_t input = filters % s.in_blocks * kBlock + i / kBlock % kBlock;
      ASSERT_EQ(dw[i], expected(s, x, dy, output, input, i / (kBlock * kBlock) % 9))
          << "output " << output << ", input " << input;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, FilterGradientOf,
    testing::Combine(testing::Values(DType::f32, DType::bf16),
                     testing::Values(
                         // Both edges cut, an odd batch, whole images in a chunk.
                         FilterGradientShape{3, 2, 5, 4, 2, 5, 4, 1, 1, 1},
                         // No padding.
                         FilterGradientShape{2, 1, 5, 6, 4, 3, 4, 1, 0, 0},
                         // Groups with a rest, and the narrowest output.
                         FilterGradientShape{1, 2, 210, 2, 5, 210, 2, 1, 1, 1},
                         // Stride 2: both edges cut, the left one, the right one, none.
                         FilterGradientShape{3, 1, 5, 5, 2, 3, 3, 2, 1, 1},
                         FilterGradientShape{2, 2, 6, 6, 1, 3, 3, 2, 1, 1},
                         FilterGradientShape{2, 2, 6, 6, 1, 3, 3, 2, 0, 0},
                         FilterGradientShape{2, 2, 7, 7, 1, 3, 3, 2, 0, 0},
                         // Several chunks of an image and an odd batch, in both strides.
                         FilterGradientShape{3, 1, 30, 20, 2, 30, 20, 1, 1, 1},
                         FilterGradientShape{3, 1, 50, 40, 1, 25, 20, 2, 0, 0},
                         FilterGradientShape{3, 1, 49, 39, 1, 25, 20, 2, 1, 1},
                         // Rows longer than a chunk.
                         FilterGradientShape{1, 1, 3, 410, 1, 3, 410, 1, 1, 1},
                         // Images in several chunks, the last one smaller.
                         FilterGradientShape{23, 1, 7, 7, 1, 7, 7, 1, 1, 1})));

TEST(FilterGradientPlan, IsEmptyForWhatTheKernelDoesNotKnow) {
  const auto plan = [](const FilterGradientShape& shape, DType dtype = DType::f32) {
    return plan_filter_gradient(shape, dtype, 2);
  };
  EXPECT_TRUE(plan({2, 4, 8, 8, 4, 8, 8, 1, 1, 1}));
  EXPECT_FALSE(plan({2, 4, 8, 8, 4, 8, 8, 1, 1, 1}, DType::f16));
  EXPECT_FALSE(plan({2, 4, 9, 9, 4, 3, 3, 3, 0, 0})) << "stride 3";
  EXPECT_FALSE(plan({2, 4, 8, 8, 4, 9, 8, 1, 2, 1})) << "two rows of zeros above";
  EXPECT_FALSE(plan({2, 4, 8, 8, 4, 8, 9, 1, 1, 2})) << "two columns of zeros at the left";
  EXPECT_FALSE(plan({2, 4, 8, 8, 4, 9, 8, 1, 1, 1})) << "two rows of zeros below";
  EXPECT_FALSE(plan({2, 4, 8, 8, 4, 8, 9, 1, 1, 1})) << "two columns of zeros at the right";
  EXPECT_FALSE(plan({2, 4, 8, 1, 4, 8, 1, 1, 1, 1})) << "one column";
}

TEST(FilterGradientPlan, ReportsTheExcessWork) {
  const FilterGradientShape three_filters{3, 1, 8, 8, 3, 8, 8, 1, 1, 1};
  EXPECT_DOUBLE_EQ(plan_filter_gradient(three_filters, DType::f32, 3)->excess, 1);
  EXPECT_DOUBLE_EQ(plan_filter_gradient(three_filters, DType::f32, 2)->excess, 4.0 / 3);
  // Three images are two pairs.
  EXPECT_DOUBLE_EQ(plan_filter_gradient(three_filters, DType::bf16, 3)->excess, 4.0 / 3);
}

}  // namespace
}  // namespace bench::cpu
