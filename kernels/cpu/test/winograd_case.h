#pragma once

#include <gtest/gtest.h>

#include <string>

#include "kernels/cpu/cpu_isa.h"
#include "kernels/cpu/test/kernel_test.h"
#include "kernels/cpu/winograd.h"
#include "kernels/cpu/winograd_gradient.h"

// Random inputs of Winograd convolutions, and what our kernels compute.

namespace bench::cpu::test {

/// A convolution and its epilogue.
struct WinogradCase {
  WinogradShape shape;
  WinogradFilters order = WinogradFilters::forward;
  bool bias = false;
  bool residual = false;
  /// y overwrites the residual.
  bool in_place = false;
  std::optional<float> lower = {};
  std::optional<float> upper = {};
};

inline std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// The elements of one tap of the filters between two blocks of channels.
inline std::int64_t floats_of_block(const WinogradShape& s) { return s.block * s.block; }

inline std::int64_t floats_of_x(const WinogradShape& s) {
  return s.batch * s.in_blocks * s.height * s.width * s.block;
}
inline std::int64_t floats_of_y(const WinogradShape& s) {
  return s.batch * s.out_blocks * s.out_height * s.out_width * s.block;
}
inline std::int64_t floats_of_filters(const WinogradShape& s) {
  return s.in_blocks * s.out_blocks * 9 * floats_of_block(s);
}

/// The inputs of a case.
struct WinogradInputs {
  explicit WinogradInputs(const WinogradShape& shape)
      : x(random_floats(floats_of_x(shape), 1)),
        filters(random_floats(floats_of_filters(shape), 2)),
        bias(random_floats(shape.out_blocks * shape.block, 3)),
        residual(random_floats(floats_of_y(shape), 4)) {}
  std::vector<float> x;
  std::vector<float> filters;
  std::vector<float> bias;
  std::vector<float> residual;
};

inline std::vector<float> computed(ThreadTeam& team, const WinogradCase& c,
                                   const WinogradInputs& inputs) {
  const WinogradPlan plan = plan_winograd(c.shape, c.order, team.size());
  const DType dtype = c.shape.dtype;
  const bool transformed = c.order == WinogradFilters::transformed;
  const GuardedFloats bias(inputs.bias);
  const GuardedTensor x(dtype, inputs.x), residual(dtype, inputs.residual),
      filters(transformed ? DType::f32 : dtype, inputs.filters), apart(dtype, floats_of_y(c.shape));
  const GuardedTensor& y = c.in_place ? residual : apart;
  const GuardedMemory workspace(plan.workspace_bytes);
  winograd(team, {.plan = plan,
                  .x = x.data(),
                  .filters = filters.data(),
                  .bias = c.bias ? bias.data() : nullptr,
                  .residual = c.residual ? residual.data() : nullptr,
                  .lower = c.lower,
                  .upper = c.upper,
                  .y = y.data(),
                  .workspace = workspace.data()});
  EXPECT_TRUE(x.intact() && filters.intact() && bias.intact() && residual.intact());
  EXPECT_TRUE(y.intact() && workspace.intact());
  return y.values();
}

/// True if the processor has the vectors of such a block.
inline bool has_vectors(std::int64_t block) {
  const auto processor = this_processor();
  const std::string isa = processor ? richest_isa(*processor) : "";
  return block == 16 ? isa.find("AVX512") != std::string::npos : !isa.empty();
}

inline std::vector<float> computed_gradient(ThreadTeam& team, const WinogradShape& shape,
                                            const WinogradInputs& inputs, std::int64_t chunk) {
  WinogradGradientPlan plan = plan_winograd_gradient(shape, team.size());
  EXPECT_LE(chunk, plan.chunk);
  plan.chunk = chunk;
  const GuardedTensor x(shape.dtype, inputs.x), dy(shape.dtype, inputs.residual);
  const GuardedFloats dw(floats_of_filters(shape));
  const GuardedMemory workspace(plan.workspace_bytes);
  winograd_gradient(team, {.plan = plan,
                           .x = x.data(),
                           .dy = dy.data(),
                           .dw = dw.data(),
                           .workspace = workspace.data()});
  EXPECT_TRUE(x.intact() && dy.intact() && dw.intact() && workspace.intact());
  return dw.values();
}

/// Square images, and as many outputs as inputs.
inline WinogradShape square(std::int64_t block, std::int64_t batch, std::int64_t in_blocks,
                            std::int64_t side, std::int64_t out_blocks) {
  return {.block = block,
          .batch = batch,
          .in_blocks = in_blocks,
          .height = side,
          .width = side,
          .out_blocks = out_blocks,
          .out_height = side,
          .out_width = side,
          .pad_top = 1,
          .pad_left = 1};
}

}  // namespace bench::cpu::test
