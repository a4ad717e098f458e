#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cpu/test/winograd_case.h"

namespace bench::cpu {
namespace {

using test::at;
using test::computed;
using test::computed_gradient;
using test::floats_of_block;
using test::floats_of_filters;
using test::floats_of_y;
using test::has_vectors;
using test::square;
using Case = test::WinogradCase;
using Inputs = test::WinogradInputs;

double filter_of(const Case& c, const Inputs& inputs, std::int64_t out, std::int64_t in,
                 std::int64_t tap) {
  const bool forward = c.order == WinogradFilters::forward;
  const std::int64_t lanes = c.shape.block;
  const std::int64_t block = forward ? out / lanes * c.shape.in_blocks + in / lanes
                                     : in / lanes * c.shape.out_blocks + out / lanes;
  const std::int64_t read = forward ? tap : 8 - tap;
  return static_cast<double>(
      inputs.filters[at(((block * 9 + read) * lanes + in % lanes) * lanes + out % lanes)]);
}

/// The result in double.
std::vector<double> expected(const Case& c, const Inputs& inputs) {
  const WinogradShape& s = c.shape;
  std::vector<double> result(at(floats_of_y(s)));
  for (std::int64_t i = 0; i < floats_of_y(s); ++i) {
    const std::int64_t column = i / s.block % s.out_width;
    const std::int64_t row = i / s.block / s.out_width % s.out_height;
    const std::int64_t block = i / s.block / s.out_width / s.out_height % s.out_blocks;
    const std::int64_t image = i / s.block / s.out_width / s.out_height / s.out_blocks;
    const std::int64_t out = block * s.block + i % s.block;
    double sum = c.bias ? static_cast<double>(inputs.bias[at(out)]) : 0;
    for (std::int64_t in = 0; in < s.in_blocks * s.block; ++in) {
      for (std::int64_t tap = 0; tap < 9; ++tap) {
        const std::int64_t y = row + tap / 3 - s.pad_top;
        const std::int64_t x = column + tap % 3 - s.pad_left;
        if (y >= 0 && y < s.height && x >= 0 && x < s.width) {
          const std::int64_t plane = (image * s.in_blocks + in / s.block) * s.height;
          sum += static_cast<double>(
                     inputs.x[at(((plane + y) * s.width + x) * s.block + in % s.block)]) *
                 filter_of(c, inputs, out, in, tap);
        }
      }
    }
    sum += c.residual ? static_cast<double>(inputs.residual[at(i)]) : 0;
    sum = c.lower ? std::max(sum, static_cast<double>(*c.lower)) : sum;
    result[at(i)] = c.upper ? std::min(sum, static_cast<double>(*c.upper)) : sum;
  }
  return result;
}

/// The tests run for each size of blocks. With AVX2 only, those of blocks of 16 are skipped.
class WinogradConvolution : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    if (!has_vectors(GetParam())) {
      GTEST_SKIP() << "this processor lacks the vectors of blocks of " << GetParam();
    }
  }
};
class WinogradFilterGradient : public WinogradConvolution {};
INSTANTIATE_TEST_SUITE_P(Blocks, WinogradConvolution, testing::Values(8, 16),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Blocks, WinogradFilterGradient, testing::Values(8, 16),
                         testing::PrintToStringParamName());

/// Sums of `terms` random products, and 60 roundings of them.
double tolerance_of(std::int64_t terms) {
  return 60 * static_cast<double>(std::numeric_limits<float>::epsilon()) *
         std::sqrt(static_cast<double>(terms));
}

/// Compares compute(team) with the right values for teams of all sizes. The bits must be the same
/// for all.
template <class Compute>
void expect_near(const std::vector<double>& right, double tolerance, const Compute& compute) {
  std::vector<float> first;
  test::for_teams([&](ThreadTeam& team) {
    SCOPED_TRACE(team.size());
    const std::vector<float> y = compute(team);
    first = first.empty() ? y : first;
    EXPECT_EQ(y, first);
    double worst = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      worst = std::max(worst, std::abs(static_cast<double>(y[i]) - right[i]));
    }
    EXPECT_LT(worst, tolerance);
  });
  EXPECT_FALSE(first.empty());
}

void expect_matches(const Case& c) {
  const Inputs inputs(c.shape);
  expect_near(expected(c, inputs), tolerance_of(c.shape.in_blocks * c.shape.block * 9),
              [&](ThreadTeam& team) { return computed(team, c, inputs); });
}

/// The gradient of the filters in double; the residual is dy.
std::vector<double> expected_gradient(const WinogradShape& s, const Inputs& inputs) {
  std::vector<double> result(at(floats_of_filters(s)));
  for (std::int64_t i = 0; i < floats_of_filters(s); ++i) {
    const std::int64_t tap = i / floats_of_block(s) % 9;
    const std::int64_t block = i / floats_of_block(s) / 9;
    const std::int64_t out_block = block / s.in_blocks;
    const std::int64_t in_block = block % s.in_blocks;
    for (std::int64_t pixel = 0; pixel < s.batch * s.out_height * s.out_width; ++pixel) {
      const std::int64_t image = pixel / s.out_width / s.out_height;
      const std::int64_t row = pixel / s.out_width % s.out_height;
      const std::int64_t column = pixel % s.out_width;
      const std::int64_t y = row + tap / 3 - s.pad_top;
      const std::int64_t x = column + tap % 3 - s.pad_left;
      if (y < 0 || y >= s.height || x < 0 || x >= s.width) {
        continue;
      }
      const std::int64_t of_dy =
          ((image * s.out_blocks + out_block) * s.out_height + row) * s.out_width + column;
      const std::int64_t of_x = ((image * s.in_blocks + in_block) * s.height + y) * s.width + x;
      result[at(i)] += static_cast<double>(inputs.residual[at(of_dy * s.block + i % s.block)]) *
                       static_cast<double>(inputs.x[at(of_x * s.block + i / s.block % s.block)]);
    }
  }
  return result;
}

void expect_gradient(const WinogradShape& shape, std::int64_t chunk) {
  const Inputs inputs(shape);
  expect_near(expected_gradient(shape, inputs),
              tolerance_of(shape.batch * shape.out_height * shape.out_width),
              [&](ThreadTeam& team) { return computed_gradient(team, shape, inputs, chunk); });
}

TEST_P(WinogradFilterGradient, AddsTheTilesOfOneChunk) {
  expect_gradient({.block = GetParam(),
                   .batch = 2,
                   .in_blocks = 2,
                   .height = 12,
                   .width = 8,
                   .out_blocks = 5,
                   .out_height = 12,
                   .out_width = 8,
                   .pad_top = 1,
                   .pad_left = 1},
                  12);
}

TEST_P(WinogradFilterGradient, AddsSeveralChunksAndPartsOfTiles) {
  expect_gradient({.block = GetParam(),
                   .batch = 3,
                   .in_blocks = 1,
                   .height = 7,
                   .width = 9,
                   .out_blocks = 4,
                   .out_height = 6,
                   .out_width = 9,
                   .pad_top = 0,
                   .pad_left = 1},
                  4);
}

TEST_P(WinogradConvolution, ComputesAConvolutionOfWholeTiles) {
  expect_matches({.shape = {.block = GetParam(),
                            .batch = 2,
                            .in_blocks = 2,
                            .height = 12,
                            .width = 16,
                            .out_blocks = 5,
                            .out_height = 12,
                            .out_width = 16,
                            .pad_top = 1,
                            .pad_left = 1}});
}

TEST_P(WinogradConvolution, ComputesPartsOfTilesAndUnevenPadding) {
  for (std::int64_t pad = 0; pad < 3; ++pad) {
    SCOPED_TRACE(pad);
    expect_matches({.shape = {.block = GetParam(),
                              .batch = 3,
                              .in_blocks = 1,
                              .height = 13,
                              .width = 7,
                              .out_blocks = 4,
                              .out_height = 11 + pad,
                              .out_width = 5 + 2,
                              .pad_top = pad,
                              .pad_left = 1}});
  }
}

TEST_P(WinogradConvolution, AddsABiasAndAResidualAndLimits) {
  expect_matches({.shape = {.block = GetParam(),
                            .batch = 5,
                            .in_blocks = 1,
                            .height = 9,
                            .width = 9,
                            .out_blocks = 2,
                            .out_height = 9,
                            .out_width = 9,
                            .pad_top = 1,
                            .pad_left = 1},
                  .bias = true,
                  .residual = true,
                  .lower = 0.0F,
                  .upper = 6.0F});
}

TEST_P(WinogradConvolution, ComputesADataGradient) {
  expect_matches({.shape = {.block = GetParam(),
                            .batch = 2,
                            .in_blocks = 3,
                            .height = 10,
                            .width = 11,
                            .out_blocks = 1,
                            .out_height = 12,
                            .out_width = 13,
                            .pad_top = 2,
                            .pad_left = 2},
                  .order = WinogradFilters::backward_data});
}

TEST_P(WinogradConvolution, CropsForANegativePadding) {
  expect_matches({.shape = {.block = GetParam(),
                            .batch = 2,
                            .in_blocks = 1,
                            .height = 18,
                            .width = 17,
                            .out_blocks = 7,
                            .out_height = 14,
                            .out_width = 13,
                            .pad_top = -1,
                            .pad_left = -1},
                  .order = WinogradFilters::backward_data});
}

TEST_P(WinogradConvolution, KeepsNaNAndOverwritesItsResidual) {
  const WinogradShape shape{.block = GetParam(),
                            .batch = 1,
                            .in_blocks = 1,
                            .height = 16,
                            .width = 16,
                            .out_blocks = 1,
                            .out_height = 16,
                            .out_width = 16,
                            .pad_top = 1,
                            .pad_left = 1};
  Case c{.shape = shape, .bias = true, .residual = true, .lower = 0.0F};
  Inputs inputs(shape);
  inputs.bias[3] = std::numeric_limits<float>::quiet_NaN();
  ThreadTeam team({0}, /*pin=*/false);
  const std::vector<float> apart = computed(team, c, inputs);
  c.in_place = true;
  const std::vector<float> y = computed(team, c, inputs);
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (static_cast<std::int64_t>(i) % shape.block == 3) {
      EXPECT_TRUE(std::isnan(y[i]) && std::isnan(apart[i]));
    } else {
      EXPECT_EQ(y[i], apart[i]);
      EXPECT_GE(y[i], 0);
    }
  }
}

/// 16 tiles of 10 blocks of output channels, which are divided into groups: of 4, 4 and 2, or of 2.
WinogradShape few_tiles(std::int64_t block) { return square(block, 1, 2, 14, 10); }

TEST_P(WinogradConvolution, DividesTheOutputChannelsIfThereAreFewTiles) {
  EXPECT_EQ(plan_winograd(few_tiles(GetParam()), WinogradFilters::forward, 1).parts, 1);
  EXPECT_EQ(plan_winograd(few_tiles(GetParam()), WinogradFilters::forward, 3).parts, 3);
  expect_matches({.shape = few_tiles(GetParam()), .bias = true});
}

TEST_P(WinogradConvolution, GivesTheSameBitsWithTransformedFilters) {
  const Case c{.shape = few_tiles(GetParam())};
  Inputs inputs(c.shape);
  test::for_teams([&](ThreadTeam& team) {
    SCOPED_TRACE(team.size());
    const std::vector<float> right = computed(team, c, inputs);
    Inputs transformed = inputs;
    const WinogradFilterShape filters{
        .block = c.shape.block, .in_blocks = c.shape.in_blocks, .out_blocks = c.shape.out_blocks};
    transformed.filters.resize(at(winograd_filter_floats(filters)));
    transform_winograd_filters(team, filters, inputs.filters.data(), transformed.filters.data());
    EXPECT_EQ(
        computed(team, {.shape = c.shape, .order = WinogradFilters::transformed}, transformed),
        right);
  });
}

TEST_P(WinogradConvolution, CountsTheProductsOfWholeTiles) {
  const std::int64_t block = GetParam();
  EXPECT_EQ(plan_winograd(square(block, 32, 2, 7, 4), WinogradFilters::forward, 1).multiply_adds,
            (2 * block) * (4 * block) * 36 * 32 * 4);
}

}  // namespace
}  // namespace bench::cpu
