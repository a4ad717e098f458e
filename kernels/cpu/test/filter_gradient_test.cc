#include "kernels/cpu/filter_gradient.h"

#include <cmath>

#include "kernels/cpu/test/kernel_test.h"

namespace bench::cpu {
namespace {

using test::GuardedFloats;
using test::GuardedTensor;
using test::Scratch;

constexpr std::int64_t kBlock = 16;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

bool runs_here(DType dtype) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") != 0 &&
         (dtype == DType::f32 || __builtin_cpu_supports("avx512bf16") != 0);
#else
  return false;
#endif
}

/// The gradient in double, and the sum of its terms' magnitudes, which its rounding errors follow.
struct Expected {
  std::vector<double> sums;
  std::vector<double> magnitudes;
};

Expected expect(const FilterGradientShape& s, const std::vector<float>& x,
                const std::vector<float>& dy) {
  const auto value = [](const std::vector<float>& values, std::int64_t blocks, std::int64_t height,
                        std::int64_t width, std::int64_t n, std::int64_t channel, std::int64_t row,
                        std::int64_t column) {
    const std::int64_t block = (n * blocks + channel / kBlock) * height;
    return static_cast<double>(
        values[at(((block + row) * width + column) * kBlock + channel % kBlock)]);
  };
  Expected out;
  const auto each_filter = [&](std::int64_t output, std::int64_t input, std::int64_t tap) {
    double sum = 0;
    double magnitude = 0;
    for (std::int64_t n = 0; n < s.batch; ++n) {
      for (std::int64_t row = 0; row < s.out_height; ++row) {
        for (std::int64_t column = 0; column < s.out_width; ++column) {
          const std::int64_t y = row * s.stride + tap / 3 - s.pad_top;
          const std::int64_t z = column * s.stride + tap % 3 - s.pad_left;
          if (y < 0 || y >= s.height || z < 0 || z >= s.width) continue;
          const double term =
              value(x, s.in_blocks, s.height, s.width, n, input, y, z) *
              value(dy, s.out_blocks, s.out_height, s.out_width, n, output, row, column);
          sum += term;
          magnitude += std::abs(term);
        }
      }
    }
    out.sums.push_back(sum);
    out.magnitudes.push_back(magnitude);
  };
  for (std::int64_t out_block = 0; out_block < s.out_blocks; ++out_block) {
    for (std::int64_t in_block = 0; in_block < s.in_blocks; ++in_block) {
      for (std::int64_t tap = 0; tap < 9; ++tap) {
        for (std::int64_t i = 0; i < kBlock; ++i) {
          for (std::int64_t o = 0; o < kBlock; ++o) {
            each_filter(out_block * kBlock + o, in_block * kBlock + i, tap);
          }
        }
      }
    }
  }
  return out;
}

class FilterGradient : public testing::TestWithParam<std::tuple<DType, FilterGradientShape>> {};

TEST_P(FilterGradient, IsTheSumOverAllPixels) {
  const auto& [dtype, s] = GetParam();
  if (!runs_here(dtype)) {
    GTEST_SKIP() << "this processor lacks the instructions";
  }
  const std::vector<float> x_values = test::rounded(
      dtype, test::random_floats(s.batch * s.in_blocks * s.height * s.width * kBlock, 1));
  const std::vector<float> dy_values = test::rounded(
      dtype, test::random_floats(s.batch * s.out_blocks * s.out_height * s.out_width * kBlock, 2));
  const GuardedTensor x(dtype, x_values);
  const GuardedTensor dy(dtype, dy_values);
  const Expected expected = expect(s, x_values, dy_values);
  for (const int threads : {1, 2}) {
    const auto plan = plan_filter_gradient(s, dtype, threads);
    ASSERT_TRUE(plan);
    ThreadTeam team(std::vector<int>(at(threads), 0), /*pin=*/false);
    const Scratch workspace(plan->workspace_bytes);
    const GuardedFloats dw(static_cast<std::int64_t>(expected.sums.size()));
    filter_gradient(team, *plan, x.data(), dy.data(), dw.data(), workspace.data());
    EXPECT_TRUE(dw.intact());
    // Of f32 sums of products, which have 24 bits: as many epsilons as a long chain may lose.
    constexpr double kTolerance = 8 * 6e-8;
    for (std::int64_t i = 0; i < dw.count(); ++i) {
      ASSERT_NEAR(static_cast<double>(dw[i]), expected.sums[at(i)],
                  kTolerance * expected.magnitudes[at(i)])
          << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, FilterGradient,
    testing::Combine(testing::Values(DType::f32, DType::bf16),
                     testing::Values(
                         // Both edges cut, an odd batch, whole images in a chunk.
                         FilterGradientShape{3, 2, 5, 4, 2, 5, 4, 1, 1, 1},
                         // No padding.
                         FilterGradientShape{2, 1, 5, 6, 4, 3, 4, 1, 0, 0},
                         // Rows in several chunks, groups with a rest, and the narrowest output.
                         FilterGradientShape{1, 2, 250, 2, 5, 250, 2, 1, 1, 1},
                         // Stride 2: both edges cut, the left one, the right one, none.
                         FilterGradientShape{3, 1, 5, 5, 2, 3, 3, 2, 1, 1},
                         FilterGradientShape{2, 2, 6, 6, 1, 3, 3, 2, 1, 1},
                         FilterGradientShape{2, 2, 6, 6, 1, 3, 3, 2, 0, 0},
                         FilterGradientShape{2, 2, 7, 7, 1, 3, 3, 2, 0, 0},
                         // Images in several chunks.
                         FilterGradientShape{23, 1, 7, 7, 2, 7, 7, 1, 1, 1})));

TEST(FilterGradientPlan, IsEmptyForWhatTheKernelDoesNotKnow) {
  const FilterGradientShape known{2, 4, 8, 8, 4, 8, 8, 1, 1, 1};
  EXPECT_TRUE(plan_filter_gradient(known, DType::f32, 2));
  EXPECT_FALSE(plan_filter_gradient(known, DType::f16, 2));
  // Padded by two, one column of output, a stride of 3.
  EXPECT_FALSE(plan_filter_gradient({2, 4, 8, 8, 4, 10, 10, 1, 2, 2}, DType::f32, 2));
  EXPECT_FALSE(plan_filter_gradient({2, 4, 8, 8, 4, 9, 9, 1, 1, 1}, DType::f32, 2));
  EXPECT_FALSE(plan_filter_gradient({2, 4, 8, 1, 4, 8, 1, 1, 1, 1}, DType::f32, 2));
  EXPECT_FALSE(plan_filter_gradient({2, 4, 9, 9, 4, 3, 3, 3, 0, 0}, DType::f32, 2));
}

TEST(FilterGradientPlan, IsEmptyWhereThreadsWouldWait) {
  const FilterGradientShape shape{2, 1, 8, 8, 3, 8, 8, 1, 1, 1};
  EXPECT_TRUE(plan_filter_gradient(shape, DType::f32, 3));
  EXPECT_FALSE(plan_filter_gradient(shape, DType::f32, 2));
}

}  // namespace
}  // namespace bench::cpu
