#include "kernels/cpu/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/cpu/test/kernel_test.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

using test::close;
using test::GuardedFloats;
using test::random_floats;
using test::Scratch;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// One batch norm with random inputs, and everything about it in double.
struct Case {
  ChannelView view;
  bool scale = true;
  bool residual = false;
  ActivationKind activation = ActivationKind::none;
  float x_mean = 0.5F;
  double epsilon = 1e-3;

  std::vector<float> x{}, gamma{}, beta{}, added{}, dy{};
  std::vector<double> mean{}, variance{}, y{}, dbeta{}, dgamma{}, dx{}, dz{};

  void prepare() {
    x = test::random_tensor(view, 1, x_mean, 1.5F);
    added = test::random_tensor(view, 2);
    dy = test::random_tensor(view, 3, 0.1F);
    gamma = random_floats(view.channels, 4, 1);
    beta = random_floats(view.channels, 5);
    find_moments();
    find_y();
    find_gradients();
  }

  [[nodiscard]] double count() const { return static_cast<double>(view.batch * view.spatial); }
  [[nodiscard]] double inverse(std::int64_t c) const {
    return 1 / std::sqrt(variance[at(c)] + epsilon);
  }
  [[nodiscard]] double factor(std::int64_t c) const {
    return (scale ? static_cast<double>(gamma[at(c)]) : 1) * inverse(c);
  }
  [[nodiscard]] double centred(std::size_t i, std::int64_t c) const {
    return static_cast<double>(x[i]) - mean[at(c)];
  }

  /// Where the activation cuts off.
  [[nodiscard]] double largest() const {
    return activation == ActivationKind::relu6 ? 6 : std::numeric_limits<double>::infinity();
  }

  void find_moments() {
    mean.assign(at(view.channels), 0);
    variance.assign(at(view.channels), 0);
    test::for_elements(view, [&](auto n, auto c, auto s) {
      mean[at(c)] += static_cast<double>(x[at(test::place(view, n, c, s))]) / count();
    });
    test::for_elements(view, [&](auto n, auto c, auto s) {
      const double d = centred(at(test::place(view, n, c, s)), c);
      variance[at(c)] += d * d / count();
    });
  }

  void find_y() {
    y.assign(x.size(), 0);
    test::for_elements(view, [&](auto n, auto c, auto s) {
      const auto i = at(test::place(view, n, c, s));
      y[i] = centred(i, c) * factor(c) + static_cast<double>(beta[at(c)]) +
             (residual ? static_cast<double>(added[i]) : 0);
      y[i] = activation == ActivationKind::none ? y[i] : std::clamp(y[i], 0.0, largest());
    });
  }

  void find_gradients() {
    dz.assign(x.size(), 0);
    dx.assign(x.size(), 0);
    dbeta.assign(at(view.channels), 0);
    dgamma.assign(at(view.channels), 0);
    test::for_elements(view, [&](auto n, auto c, auto s) {
      const auto i = at(test::place(view, n, c, s));
      const bool passes = activation == ActivationKind::none || (y[i] > 0 && y[i] < largest());
      dz[i] = passes ? static_cast<double>(dy[i]) : 0;
      dbeta[at(c)] += dz[i];
      dgamma[at(c)] += dz[i] * centred(i, c) * inverse(c);
    });
    test::for_elements(view, [&](auto n, auto c, auto s) {
      const auto i = at(test::place(view, n, c, s));
      dx[i] = factor(c) * (dz[i] - dbeta[at(c)] / count() -
                           centred(i, c) * inverse(c) * dgamma[at(c)] / count());
    });
  }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const ChannelView& view : test::views()) {
    for (const bool residual : {false, true}) {
      for (const auto activation :
           {ActivationKind::none, ActivationKind::relu, ActivationKind::relu6}) {
        all.push_back(
            {.view = view, .scale = !residual, .residual = residual, .activation = activation});
      }
    }
  }
  return all;
}

/// One of the `count` values of an enumeration: over the cases, each meets each epilogue.
template <class Enumeration>
Enumeration rotated(std::size_t index, std::size_t count) {
  constexpr std::size_t kEpilogues = 6;
  return static_cast<Enumeration>((index + index / kEpilogues) % count);
}

void expect_close(const ChannelView& view, const GuardedFloats& given,
                  const std::vector<double>& expected, double tolerance) {
  int wrong = 0;
  for (std::int64_t i = 0; i < given.count(); ++i) {
    const auto result =
        close(static_cast<double>(given[i]), expected[static_cast<std::size_t>(i)], tolerance);
    if (!result && wrong++ == 0) {
      ADD_FAILURE() << "element " << i << ": " << result.message();
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(given.intact());
  if (given.count() == view.elements()) {
    EXPECT_TRUE(test::padding_is_zero(view, given.values()));
  }
}

enum class Place { apart, in_place };

struct Forward {
  GuardedFloats x, gamma, beta, added, apart, mean, variance;
  float* y;

  Forward(const Case& c, ThreadTeam& team, Place where)
      : x(c.x),
        gamma(c.gamma),
        beta(c.beta),
        added(c.added),
        apart(c.view.elements()),
        mean(c.view.channels),
        variance(c.view.channels),
        y(where == Place::apart ? apart.data() : x.data()) {
    const Scratch scratch(channel_workspace_bytes(c.view, team.size()));
    batch_norm_forward(team, {.view = c.view,
                              .x = x.data(),
                              .gamma = c.scale ? gamma.data() : nullptr,
                              .beta = beta.data(),
                              .residual = c.residual ? added.data() : nullptr,
                              .activation = c.activation,
                              .epsilon = c.epsilon,
                              .y = y,
                              .mean = mean.data(),
                              .variance = variance.data(),
                              .workspace = scratch.data()});
  }
};

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

/// Which memory dx and dresidual share.
enum class Overwrite { none, dx_on_dy, dresidual_on_dy, dx_on_x };

struct Backward {
  GuardedFloats dy, x, gamma, mean, variance, y, apart_dx, apart_dresidual, dbeta, dgamma;
  float* dx;
  float* dresidual;

  Backward(const Case& c, ThreadTeam& team, Overwrite overwrite)
      : dy(c.dy),
        x(c.x),
        gamma(c.gamma),
        mean(std::vector<float>(c.mean.begin(), c.mean.end())),
        variance(std::vector<float>(c.variance.begin(), c.variance.end())),
        y(std::vector<float>(c.y.begin(), c.y.end())),
        apart_dx(c.view.elements()),
        apart_dresidual(c.view.elements()),
        dbeta(c.view.channels),
        dgamma(c.view.channels),
        dx(overwrite == Overwrite::dx_on_dy  ? dy.data()
           : overwrite == Overwrite::dx_on_x ? x.data()
                                             : apart_dx.data()),
        dresidual(!c.residual                               ? nullptr
                  : overwrite == Overwrite::dresidual_on_dy ? dy.data()
                                                            : apart_dresidual.data()) {
    const Scratch scratch(channel_workspace_bytes(c.view, team.size()));
    batch_norm_backward(team, {.view = c.view,
                               .dy = dy.data(),
                               .x = x.data(),
                               .gamma = c.scale ? gamma.data() : nullptr,
                               .mean = mean.data(),
                               .variance = variance.data(),
                               .activation = c.activation,
                               .y = y.data(),
                               .epsilon = c.epsilon,
                               .dx = dx,
                               .dbeta = dbeta.data(),
                               .dgamma = c.scale ? dgamma.data() : nullptr,
                               .dresidual = dresidual,
                               .workspace = scratch.data()});
  }
  [[nodiscard]] const GuardedFloats& memory_of(const float* data) const {
    return data == dy.data()         ? dy
           : data == x.data()        ? x
           : data == apart_dx.data() ? apart_dx
                                     : apart_dresidual;
  }
};

TEST(BatchNormBackward, EqualsDoubleInEveryViewAndPlace) {
  std::size_t index = 0;
  for (Case c : cases()) {
    SCOPED_TRACE(test::text(c.view));
    c.prepare();
    const Overwrite overwrite = rotated<Overwrite>(index++, 4);
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

// As behind a mean over all pixels: each sample has one gradient. Adding one number again and again
// rounds the same way each time; and what the sum is off by is in every dx of the channel alike, so
// that a filter's gradient, which sums dx times values around 3, has it a hundredfold.
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
    // Every seventh: over the views each epilogue, apart and in place.
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
      // As the backend places them: dresidual on dy, or else dx.
      batch_norm_backward(run.team(), {.view = c.view,
                                       .dtype = run.dtype(),
                                       .dy = dy,
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
