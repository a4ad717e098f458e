#include "kernels/cpu/depthwise_gradient.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/cpu/test/kernel_test.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

using test::GuardedFloats;
using test::GuardedMemory;
using test::GuardedTensor;

struct Case {
  ChannelView view;  // of x
  std::int64_t height, width, out_height, out_width;
  Window window;

  [[nodiscard]] ChannelView y_view() const {
    ChannelView y = view;
    y.spatial = out_height * out_width;
    return y;
  }
  [[nodiscard]] std::int64_t taps() const { return window.kernel[0] * window.kernel[1]; }
};

Case make_case(std::int64_t batch, std::int64_t channels, std::array<std::int64_t, 2> size,
               const Window& window, ChannelView::Kind kind, int block) {
  Case c{.view = {.batch = batch,
                  .channels = channels,
                  .spatial = size[0] * size[1],
                  .kind = kind,
                  .block = block},
         .height = size[0],
         .width = size[1],
         .out_height = 0,
         .out_width = 0,
         .window = window};
  const auto out = [&](std::size_t axis) {
    return (size[axis] + window.pad_before[axis] + window.pad_after[axis] - window.kernel[axis]) /
               window.stride[axis] +
           1;
  };
  c.out_height = out(0);
  c.out_width = out(1);
  return c;
}

std::vector<Case> cases() {
  const auto window = [](std::int64_t kernel, std::int64_t stride, std::int64_t before,
                         std::int64_t after) {
    return Window{.kernel = {kernel, kernel},
                  .stride = {stride, stride},
                  .pad_before = {before, before},
                  .pad_after = {after, after}};
  };
  std::vector<Case> all;
  for (const auto kind : {ChannelView::Kind::nhwc, ChannelView::Kind::blocked}) {
    for (const int block : {8, 16}) {
      all.push_back(make_case(3, 21, {9, 8}, window(5, 1, 2, 2), kind, block));
      all.push_back(make_case(2, 16, {9, 8}, window(5, 2, 1, 2), kind, block));
      all.push_back(make_case(1, 5, {7, 9}, window(7, 1, 3, 3), kind, block));
      // Several strips of rows, and rows longer than a strip.
      all.push_back(make_case(2, 3, {40, 30}, window(5, 2, 2, 2), kind, block));
      all.push_back(make_case(1, 2, {3, 600}, window(2, 1, 0, 0), kind, block));
      all.push_back(make_case(2, 4, {6, 7},
                              {.kernel = {1, 7}, .pad_before = {0, 3}, .pad_after = {0, 3}}, kind,
                              block));
      // Axes that differ: strides, paddings, the filter; four and eight taps in a row.
      all.push_back(
          make_case(2, 4, {8, 9},
                    {.kernel = {3, 4}, .stride = {2, 1}, .pad_before = {0, 2}, .pad_after = {1, 1}},
                    kind, block));
      all.push_back(
          make_case(2, 4, {5, 12},
                    {.kernel = {1, 8}, .stride = {1, 3}, .pad_before = {0, 0}, .pad_after = {0, 4}},
                    kind, block));
      all.push_back(make_case(2, 4, {9, 3},
                              {.kernel = {7, 1}, .pad_before = {3, 0}, .pad_after = {3, 0}}, kind,
                              block));
      // Strides beyond the filter.
      all.push_back(make_case(1, 4, {9, 9}, window(2, 3, 1, 1), kind, block));
      // Smaller than the filter.
      all.push_back(make_case(2, 4, {2, 2}, window(5, 1, 2, 2), kind, block));
    }
  }
  return all;
}

/// Numbers -4 to 4, whose sums are exact in f32.
std::vector<float> whole_numbers(const ChannelView& view, std::uint64_t seed) {
  std::vector<float> values = test::random_tensor(view, seed, 0, 2);
  for (float& value : values) {
    value = std::clamp(std::round(value), -4.0F, 4.0F);
  }
  return values;
}

float expected(const Case& c, const std::vector<float>& x, const std::vector<float>& dy,
               std::int64_t channel, std::int64_t tap) {
  if (channel >= c.view.channels) {
    return 0;
  }
  const Window& window = c.window;
  float sum = 0;
  for (std::int64_t n = 0; n < c.view.batch; ++n) {
    for (std::int64_t row = 0; row < c.out_height; ++row) {
      for (std::int64_t column = 0; column < c.out_width; ++column) {
        const std::int64_t h =
            row * window.stride[0] + tap / window.kernel[1] - window.pad_before[0];
        const std::int64_t w =
            column * window.stride[1] + tap % window.kernel[1] - window.pad_before[1];
        if (h >= 0 && h < c.height && w >= 0 && w < c.width) {
          sum += x[static_cast<std::size_t>(test::place(c.view, n, channel, h * c.width + w))] *
                 dy[static_cast<std::size_t>(
                     test::place(c.y_view(), n, channel, row * c.out_width + column))];
        }
      }
    }
  }
  return sum;
}

TEST(DepthwiseGradient, IsTheSumOverAllPixels) {
  for (const Case& c : cases()) {
    const std::vector<float> x = whole_numbers(c.view, 1);
    const std::vector<float> dy = whole_numbers(c.y_view(), 2);
    const std::int64_t block = c.view.block;
    const std::int64_t blocks = (c.view.channels + block - 1) / block;
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
      const GuardedTensor x_memory(dtype, x);
      const GuardedTensor dy_memory(dtype, dy);
      test::for_teams([&](ThreadTeam& team) {
        const GuardedFloats dw(blocks * c.taps() * block);
        DepthwiseGradient args{.view = c.view,
                               .height = c.height,
                               .width = c.width,
                               .out_height = c.out_height,
                               .out_width = c.out_width,
                               .window = c.window,
                               .dtype = dtype,
                               .x = x_memory.data(),
                               .dy = dy_memory.data(),
                               .dw = dw.data()};
        const GuardedMemory workspace(depthwise_gradient_workspace_bytes(args, team.size()));
        args.workspace = workspace.data();
        depthwise_gradient(team, args);
        EXPECT_TRUE(dw.intact());
        EXPECT_TRUE(workspace.intact());
        for (std::int64_t i = 0; i < dw.count(); ++i) {
          const std::int64_t channel = i / (c.taps() * block) * block + i % block;
          ASSERT_EQ(dw[i], expected(c, x, dy, channel, i / block % c.taps()))
              << test::text(c.view) << " channel " << channel << " of " << name_of(dtype);
        }
      });
    }
  }
}

TEST(DepthwiseGradient, RefusesWhatItDoesNotKnow) {
  const Case c = make_case(1, 4, {4, 4}, {.kernel = {2, 2}}, ChannelView::Kind::nhwc, 16);
  const auto with = [&](const auto& change) {
    DepthwiseGradient args{.view = c.view,
                           .height = c.height,
                           .width = c.width,
                           .out_height = c.out_height,
                           .out_width = c.out_width,
                           .window = c.window};
    change(args);
    return depthwise_gradient_workspace_bytes(args, 1);
  };
  EXPECT_GT(with([](auto&) {}), 0U);
  EXPECT_THROW(with([](auto& args) { args.view.kind = ChannelView::Kind::nchw; }), InternalError);
  EXPECT_THROW(with([](auto& args) { args.window.dilation = {1, 2}; }), InternalError);
  EXPECT_THROW(with([](auto& args) { args.dtype = DType::f64; }), InternalError);
  EXPECT_THROW(with([](auto& args) { args.out_width = 0; }), InternalError);
}

}  // namespace
}  // namespace bench::cpu
