#include <algorithm>

#include "kernels/cpu/batch_norm.h"
#include "kernels/cpu/bias.h"
#include "kernels/cpu/spatial_mean.h"
#include "kernels/cpu/test/kernel_test.h"

namespace bench::cpu {
namespace {

using test::close;
using test::GuardedFloats;
using test::place;
using test::random_floats;
using test::Scratch;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

TEST(BiasAdd, AddsTheChannelsBiasInEveryViewAndInPlace) {
  for (const ChannelView& view : test::views()) {
    SCOPED_TRACE(test::text(view));
    const auto values = test::random_tensor(view, 1);
    const auto bias = random_floats(view.channels, 2);
    test::for_teams([&](ThreadTeam& team) {
      for (const bool in_place : {false, true}) {
        const GuardedFloats x(values), b(bias), apart(view.elements());
        const GuardedFloats& y = in_place ? x : apart;
        bias_add(team, {.view = view, .x = x.data(), .bias = b.data(), .y = y.data()});
        bool equal = true;
        test::for_elements(view, [&](auto n, auto c, auto s) {
          const auto i = place(view, n, c, s);
          equal = equal && y[i] == values[at(i)] + bias[at(c)];
        });
        EXPECT_TRUE(equal);
        EXPECT_TRUE(y.intact());
        EXPECT_TRUE(test::padding_is_zero(view, y.values()));
      }
    });
  }
}

TEST(BiasBackward, SumsEachChannelInEveryView) {
  for (const ChannelView& view : test::views()) {
    SCOPED_TRACE(test::text(view));
    const auto values = test::random_tensor(view, 1, 0.2F);
    std::vector<double> expected(at(view.channels));
    test::for_elements(view, [&](auto n, auto c, auto s) {
      expected[at(c)] += static_cast<double>(values[at(place(view, n, c, s))]);
    });
    test::for_teams([&](ThreadTeam& team) {
      const GuardedFloats dy(values), dbias(view.channels), again(view.channels);
      for (const GuardedFloats* to : {&dbias, &again}) {
        const Scratch scratch(channel_workspace_bytes(view, team.size()));
        bias_backward(
            team,
            {.view = view, .dy = dy.data(), .dbias = to->data(), .workspace = scratch.data()});
      }
      for (std::int64_t c = 0; c < view.channels; ++c) {
        EXPECT_TRUE(close(static_cast<double>(dbias[c]), expected[at(c)], 2e-6));
      }
      EXPECT_TRUE(dbias.intact());
      EXPECT_EQ(dbias.values(), again.values());
    });
  }
}

TEST(SpatialMean, IsTheMeanOverSpaceInEveryView) {
  for (const ChannelView& view : test::views()) {
    SCOPED_TRACE(test::text(view));
    const auto values = test::random_tensor(view, 1, 3);
    std::vector<double> expected(at(view.batch * view.channels));
    test::for_elements(view, [&](auto n, auto c, auto s) {
      expected[at(n * view.channels + c)] +=
          static_cast<double>(values[at(place(view, n, c, s))]) / static_cast<double>(view.spatial);
    });
    test::for_teams([&](ThreadTeam& team) {
      const GuardedFloats x(values), y(view.batch * view.channels);
      const Scratch scratch(channel_workspace_bytes(view, team.size()));
      spatial_mean(team, {.view = view, .x = x.data(), .y = y.data(), .workspace = scratch.data()});
      for (std::int64_t i = 0; i < y.count(); ++i) {
        EXPECT_TRUE(close(static_cast<double>(y[i]), expected[at(i)], 1e-6));
      }
      EXPECT_TRUE(y.intact());
    });
  }
}

TEST(SpatialMeanBackward, SpreadsTheGradientInEveryView) {
  for (const ChannelView& view : test::views()) {
    SCOPED_TRACE(test::text(view));
    const auto values = random_floats(view.batch * view.channels, 1);
    test::for_teams([&](ThreadTeam& team) {
      const GuardedFloats dy(values), dx(view.elements());
      const Scratch scratch(channel_workspace_bytes(view, team.size()));
      spatial_mean_backward(
          team, {.view = view, .dy = dy.data(), .dx = dx.data(), .workspace = scratch.data()});
      bool near = true;
      test::for_elements(view, [&](auto n, auto c, auto s) {
        const double expected = static_cast<double>(values[at(n * view.channels + c)]) /
                                static_cast<double>(view.spatial);
        near = near && close(static_cast<double>(dx[place(view, n, c, s)]), expected, 1e-6);
      });
      EXPECT_TRUE(near);
      EXPECT_TRUE(dx.intact());
      EXPECT_TRUE(test::padding_is_zero(view, dx.values()));
    });
  }
}

TEST(ChannelKernels, In16BitsRoundTheResultOnce) {
  for (const ChannelView& view : test::views()) {
    SCOPED_TRACE(test::text(view));
    const auto values = test::random_tensor(view, 1, 0.2F);
    const auto vector = random_floats(view.channels, 2);
    const auto means = random_floats(view.batch * view.channels, 3);
    test::expect_halves_follow_f32([&](test::Run& run) {
      const DType dtype = run.dtype();
      const void* const x = run.input(values);
      void* const scratch = run.workspace(channel_workspace_bytes(view, run.team().size()));
      bias_add(run.team(), {.view = view,
                            .dtype = dtype,
                            .x = x,
                            .bias = run.input_floats(vector),
                            .y = run.output(view)});
      bias_backward(run.team(), {.view = view,
                                 .dtype = dtype,
                                 .dy = x,
                                 .dbias = run.output_floats(view.channels),
                                 .workspace = scratch});
      spatial_mean(run.team(), {.view = view,
                                .dtype = dtype,
                                .x = x,
                                .y = run.output(view.batch * view.channels),
                                .workspace = scratch});
      spatial_mean_backward(run.team(), {.view = view,
                                         .dtype = dtype,
                                         .dy = run.input(means),
                                         .dx = run.output(view),
                                         .workspace = scratch});
    });
  }
}

}  // namespace
}  // namespace bench::cpu
