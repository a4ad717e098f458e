#include "kernels/cpu/batch_norm.h"

#include <limits>

#include "kernels/cpu/test/batch_norm_case.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

using test::at;
using test::Case;
using test::cases;
using test::expect_close;
using test::Forward;
using test::GuardedFloats;
using test::Place;
using test::random_floats;
using test::rotated;
using test::Scratch;

TEST(BatchNormForward, EqualsDoubleInEveryViewAndPlace) {
  std::size_t index = 0;
  for (Case c : cases()) {
    SCOPED_TRACE(test::text(c.view));
    c.prepare();
    const Place where = rotated<Place>(index++, 2);
    test::for_teams([&](ThreadTeam& team) {
      const Forward forward(c, team, where);
      expect_close(c.view, forward.mean, c.mean, 1e-6);
      expect_close(c.view, forward.variance, c.variance, 1e-6);
      expect_close(c.view, where == Place::apart ? forward.apart : forward.x, c.y, 5e-6);
    });
  }
}

TEST(BatchNormForward, StaysAccurateWhenTheMeanDwarfsTheDeviation) {
  for (const auto kind :
       {ChannelView::Kind::nchw, ChannelView::Kind::nhwc, ChannelView::Kind::blocked}) {
    Case c{.view = {.batch = 4, .channels = 20, .spatial = 500, .kind = kind}, .x_mean = 1000};
    c.prepare();
    test::for_teams([&](ThreadTeam& team) {
      const Forward forward(c, team, Place::apart);
      expect_close(c.view, forward.mean, c.mean, 6.1e-8);
      expect_close(c.view, forward.variance, c.variance, 1e-6);
      expect_close(c.view, forward.apart, c.y, 1e-6);
    });
  }
}

TEST(BatchNormForward, StaysAccurateWhenTheFirstElementIsAnOutlier) {
  for (const auto kind :
       {ChannelView::Kind::nchw, ChannelView::Kind::nhwc, ChannelView::Kind::blocked}) {
    Case c{.view = {.batch = 4, .channels = 20, .spatial = 500, .kind = kind}};
    c.prepare();
    for (std::int64_t channel = 0; channel < c.view.channels; ++channel) {
      c.x[at(test::place(c.view, 0, channel, 0))] = -12345.678F;
    }
    c.find_moments();
    c.find_y();
    test::for_teams([&](ThreadTeam& team) {
      const Forward forward(c, team, Place::apart);
      expect_close(c.view, forward.variance, c.variance, 1e-6);
    });
  }
}

TEST(BatchNormForward, KeepsNaN) {
  Case c{.view = {.batch = 2, .channels = 3, .spatial = 7}, .activation = ActivationKind::relu};
  c.prepare();
  c.x[4] = std::numeric_limits<float>::quiet_NaN();
  test::for_teams([&](ThreadTeam& team) {
    const Forward forward(c, team, Place::apart);
    EXPECT_TRUE(std::isnan(forward.y[4]));
    EXPECT_TRUE(std::isnan(forward.variance[1]));
    EXPECT_FALSE(std::isnan(forward.y[5]));
  });
}

TEST(BatchNormForward, RepeatsBitForBit) {
  for (const ChannelView& view : test::views()) {
    Case c{.view = view, .activation = ActivationKind::relu};
    c.prepare();
    test::for_teams([&](ThreadTeam& team) {
      const Forward first(c, team, Place::apart);
      const Forward second(c, team, Place::apart);
      EXPECT_EQ(first.apart.values(), second.apart.values());
      EXPECT_EQ(first.variance.values(), second.variance.values());
    });
  }
}

TEST(BatchNormForward, RefusesAMissingWorkspace) {
  ThreadTeam team({0}, false);
  EXPECT_THROW(batch_norm_forward(team, {.view = {.batch = 1, .channels = 1}}), InternalError);
}

TEST(BatchNormForward, RefusesAnActivationItDoesNotCarry) {
  ThreadTeam team({0}, false);
  EXPECT_THROW(batch_norm_forward(team, {.view = {}, .activation = ActivationKind::silu}),
               InternalError);
}

TEST(BatchNormInference, EqualsDoubleInEveryView) {
  for (Case c : cases()) {
    SCOPED_TRACE(test::text(c.view));
    c.prepare();
    c.mean.assign(at(c.view.channels), 0);
    c.variance = c.mean;
    const auto mean = random_floats(c.view.channels, 6);
    auto variance = random_floats(c.view.channels, 7, 1);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      variance[i] = std::abs(variance[i]);
      c.mean[i] = static_cast<double>(mean[i]);
      c.variance[i] = static_cast<double>(variance[i]);
    }
    c.find_y();
    test::for_teams([&](ThreadTeam& team) {
      const GuardedFloats x(c.x), gamma(c.gamma), beta(c.beta), added(c.added),
          y(c.view.elements());
      const GuardedFloats given_mean(mean), given_variance(variance);
      const Scratch scratch(channel_workspace_bytes(c.view, team.size()));
      batch_norm_inference(team, {.view = c.view,
                                  .x = x.data(),
                                  .gamma = c.scale ? gamma.data() : nullptr,
                                  .beta = beta.data(),
                                  .mean = given_mean.data(),
                                  .variance = given_variance.data(),
                                  .residual = c.residual ? added.data() : nullptr,
                                  .activation = c.activation,
                                  .epsilon = c.epsilon,
                                  .y = y.data(),
                                  .workspace = scratch.data()});
      expect_close(c.view, y, c.y, 2e-6);
    });
  }
}

}  // namespace
}  // namespace bench::cpu
