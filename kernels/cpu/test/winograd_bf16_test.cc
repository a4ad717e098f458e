#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/cpu/test/winograd_case.h"

namespace bench::cpu {
namespace {

using test::at;
using test::computed;
using test::computed_gradient;
using test::square;
using Case = test::WinogradCase;
using Inputs = test::WinogradInputs;

/// Inputs that bf16 can represent.
Inputs rounded(Inputs inputs) {
  for (std::vector<float>* values : {&inputs.x, &inputs.filters, &inputs.residual}) {
    *values = test::rounded(DType::bf16, *values);
  }
  return inputs;
}

WinogradShape in_bfloat16(WinogradShape shape) {
  shape.dtype = DType::bf16;
  return shape;
}

/// Tensors of bf16, which have blocks of 16.
class WinogradInBfloat16 : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::has_vectors(16)) {
      GTEST_SKIP() << "this processor lacks the vectors of blocks of 16";
    }
  }
};

TEST_F(WinogradInBfloat16, RoundsTheResultOfF32Once) {
  for (const WinogradFilters order : {WinogradFilters::forward, WinogradFilters::backward_data}) {
    const Case c{.shape = square(16, 3, 2, 9, 5),
                 .order = order,
                 .bias = true,
                 .residual = true,
                 .lower = 0.0F,
                 .upper = 6.0F};
    Inputs inputs = rounded(Inputs(c.shape));
    inputs.bias[3] = std::numeric_limits<float>::quiet_NaN();
    test::for_teams([&](ThreadTeam& team) {
      SCOPED_TRACE(team.size());
      const std::vector<float> right = test::rounded(DType::bf16, computed(team, c, inputs));
      Case half = c;
      half.shape = in_bfloat16(c.shape);
      for (const bool in_place : {false, true}) {
        half.in_place = in_place;
        const std::vector<float> y = computed(team, half, inputs);
        for (std::size_t i = 0; i < y.size(); ++i) {
          ASSERT_TRUE(y[i] == right[i] || (std::isnan(y[i]) && std::isnan(right[i]))) << i;
        }
      }
    });
  }
}

TEST_F(WinogradInBfloat16, TransformsFiltersWithoutRoundingThem) {
  const WinogradShape shape = square(16, 1, 2, 9, 3);
  WinogradFilterShape filters{.in_blocks = shape.in_blocks, .out_blocks = shape.out_blocks};
  const Inputs inputs = rounded(Inputs(shape));
  const test::GuardedTensor halves(DType::bf16, inputs.filters);
  std::vector<float> right(at(winograd_filter_floats(filters)));
  std::vector<float> transformed = right;
  ThreadTeam team({0}, /*pin=*/false);
  transform_winograd_filters(team, filters, inputs.filters.data(), right.data());
  filters.dtype = DType::bf16;
  transform_winograd_filters(team, filters, halves.data(), transformed.data());
  EXPECT_EQ(transformed, right);
}

TEST_F(WinogradInBfloat16, GivesTheFilterGradientOfF32) {
  const WinogradShape shape = square(16, 3, 2, 9, 5);
  const Inputs inputs = rounded(Inputs(shape));
  ThreadTeam team({0}, /*pin=*/false);
  EXPECT_EQ(computed_gradient(team, in_bfloat16(shape), inputs, 5),
            computed_gradient(team, shape, inputs, 5));
}

}  // namespace
}  // namespace bench::cpu
