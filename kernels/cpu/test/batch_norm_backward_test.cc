#include <limits>

#include "kernels/cpu/batch_norm.h"
#include "kernels/cpu/test/batch_norm_case.h"

namespace bench::cpu {
namespace {

using test::at;
using test::Backward;
using test::Case;
using test::cases;
using test::expect_close;
using test::Overwrite;
using test::random_floats;
using test::rotated;

TEST(BatchNormBackward, EqualsDoubleInEveryViewAndPlace) {
  std::size_t index = 0;
  for (Case c : cases()) {
    SCOPED_TRACE(test::text(c.view));
    c.prepare();
    const Overwrite overwrite = rotated<Overwrite>(index++, 5);
    test::for_teams([&](ThreadTeam& team) {
      const Backward backward(c, team, overwrite);
      expect_close(c.view, backward.dbeta, c.dbeta, 1e-5);
      if (c.scale) {
        expect_close(c.view, backward.dgamma, c.dgamma, 1e-5);
      }
      expect_close(c.view, backward.memory_of(backward.dx), c.dx, 1e-5);
      if (c.residual) {
        expect_close(c.view, backward.memory_of(backward.dresidual), c.dz, 1e-7);
      }
    });
  }
}

// Like the gradient of a mean over all pixels: each sample has one gradient. Repeatedly adding one
// number rounds the same way each time. Every dx of the channel has the same error of the sum. A
// filter's gradient, which sums dx times values around 3, therefore has it a hundredfold.
TEST(BatchNormBackward, SumsGradientsThatAreEqualWithinASampleToTwoEpsilons) {
  // In nchw the lanes of a vector share the sum.
  for (const auto kind : {ChannelView::Kind::nhwc, ChannelView::Kind::blocked}) {
    Case c{.view = {.batch = 4, .channels = 64, .spatial = 64, .kind = kind}};
    c.prepare();
    const auto per_sample = random_floats(c.view.batch * c.view.channels, 6);
    test::for_elements(c.view, [&](auto n, auto channel, auto s) {
      c.dy[at(test::place(c.view, n, channel, s))] =
          std::abs(per_sample[at(n * c.view.channels + channel)]);
    });
    c.find_gradients();
    test::for_teams([&](ThreadTeam& team) {
      const Backward backward(c, team, Overwrite::none);
      double squares = 0;
      for (std::int64_t channel = 0; channel < c.view.channels; ++channel) {
        const double off = static_cast<double>(backward.dbeta[channel]) / c.dbeta[at(channel)] - 1;
        squares += off * off / static_cast<double>(c.view.channels);
      }
      constexpr double kEpsilon = std::numeric_limits<float>::epsilon();
      EXPECT_LT(std::sqrt(squares), 2 * kEpsilon) << test::text(c.view);
    });
  }
}

TEST(BatchNormBackward, RepeatsBitForBit) {
  for (const ChannelView& view : test::views()) {
    Case c{.view = view, .activation = ActivationKind::relu};
    c.prepare();
    test::for_teams([&](ThreadTeam& team) {
      const Backward first(c, team, Overwrite::none);
      const Backward second(c, team, Overwrite::none);
      EXPECT_EQ(first.apart_dx.values(), second.apart_dx.values());
      EXPECT_EQ(first.dgamma.values(), second.dgamma.values());
    });
  }
}

TEST(BatchNorm, In16BitsKeepsF32StatisticsAndRoundsTensorsOnce) {
  std::size_t index = 0;
  for (Case c : cases()) {
    // Every seventh case: over the views each epilogue, both separate and in place.
    const std::size_t turn = index++;
    if (turn % 7 != 0) {
      continue;
    }
    SCOPED_TRACE(test::text(c.view));
    c.prepare();
    const bool in_place = turn / 42 % 2 == 1;
    const std::vector<float> y(c.y.begin(), c.y.end());
    const std::vector<float> variance(c.variance.begin(), c.variance.end());
    test::expect_halves_follow_f32([&](test::Run& run) {
      const auto channels = c.view.channels;
      const float* const gamma = c.scale ? run.input_floats(c.gamma) : nullptr;
      const float* const beta = run.input_floats(c.beta);
      const void* const added = c.residual ? run.input(c.added) : nullptr;
      void* const scratch = run.workspace(channel_workspace_bytes(c.view, run.team().size()));
      void* const x = run.input(c.x);
      void* const to = in_place ? run.overwritten(c.x) : run.output(c.view);
      const float* const given_mean = run.input_floats(c.beta);
      const float* const given_variance = run.input_floats(variance);
      batch_norm_inference(run.team(), {.view = c.view,
                                        .dtype = run.dtype(),
                                        .x = x,
                                        .gamma = gamma,
                                        .beta = beta,
                                        .mean = given_mean,
                                        .variance = given_variance,
                                        .residual = added,
                                        .activation = c.activation,
                                        .epsilon = c.epsilon,
                                        .y = run.output(c.view),
                                        .workspace = scratch});
      batch_norm_forward(run.team(), {.view = c.view,
                                      .dtype = run.dtype(),
                                      .x = in_place ? to : x,
                                      .gamma = gamma,
                                      .beta = beta,
                                      .residual = added,
                                      .activation = c.activation,
                                      .epsilon = c.epsilon,
                                      .y = to,
                                      .mean = run.output_floats(channels),
                                      .variance = run.output_floats(channels),
                                      .workspace = scratch});
      void* const dy = in_place ? run.overwritten(c.dy) : run.input(c.dy);
      // The sum is exact, although it is rounded once more.
      const void* const second_dy = run.input(c.dy);
      // The backend's placement: dresidual on dy, or else dx.
      batch_norm_backward(run.team(), {.view = c.view,
                                       .dtype = run.dtype(),
                                       .dy = dy,
                                       .second_dy = c.two_gradients ? second_dy : nullptr,
                                       .x = x,
                                       .gamma = gamma,
                                       .mean = given_mean,
                                       .variance = given_variance,
                                       .activation = c.activation,
                                       .y = run.input(y),
                                       .epsilon = c.epsilon,
                                       .dx = in_place && !c.residual ? dy : run.output(c.view),
                                       .dbeta = run.output_floats(channels),
                                       .dgamma = c.scale ? run.output_floats(channels) : nullptr,
                                       .dresidual = !c.residual ? nullptr
                                                    : in_place  ? dy
                                                                : run.output(c.view),
                                       .workspace = scratch});
    });
  }
}

}  // namespace
}  // namespace bench::cpu
