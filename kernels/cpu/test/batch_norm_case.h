#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "kernels/cpu/batch_norm.h"
#include "kernels/cpu/test/kernel_test.h"

namespace bench::cpu::test {

inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// One batch norm with random inputs, and all its results in double.
struct Case {
  ChannelView view;
  bool scale = true;
  bool residual = false;
  bool two_gradients = false;
  ActivationKind activation = ActivationKind::none;
  float x_mean = 0.5F;
  double epsilon = 1e-3;

  std::vector<float> x{}, gamma{}, beta{}, added{}, dy{}, second_dy{};
  std::vector<double> mean{}, variance{}, y{}, dbeta{}, dgamma{}, dx{}, dz{};

  void prepare() {
    x = random_tensor(view, 1, x_mean, 1.5F);
    added = random_tensor(view, 2);
    dy = random_tensor(view, 3, 0.1F);
    second_dy = random_tensor(view, 6);
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

  /// The upper limit of the activation.
  [[nodiscard]] double largest() const {
    return activation == ActivationKind::relu6 ? 6 : std::numeric_limits<double>::infinity();
  }

  void find_moments() {
    mean.assign(at(view.channels), 0);
    variance.assign(at(view.channels), 0);
    for_elements(view, [&](auto n, auto c, auto s) {
      mean[at(c)] += static_cast<double>(x[at(place(view, n, c, s))]) / count();
    });
    for_elements(view, [&](auto n, auto c, auto s) {
      const double d = centred(at(place(view, n, c, s)), c);
      variance[at(c)] += d * d / count();
    });
  }

  void find_y() {
    y.assign(x.size(), 0);
    for_elements(view, [&](auto n, auto c, auto s) {
      const auto i = at(place(view, n, c, s));
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
    for_elements(view, [&](auto n, auto c, auto s) {
      const auto i = at(place(view, n, c, s));
      const bool passes = activation == ActivationKind::none || (y[i] > 0 && y[i] < largest());
      const double sum =
          static_cast<double>(dy[i]) + (two_gradients ? static_cast<double>(second_dy[i]) : 0);
      dz[i] = passes ? sum : 0;
      dbeta[at(c)] += dz[i];
      dgamma[at(c)] += dz[i] * centred(i, c) * inverse(c);
    });
    for_elements(view, [&](auto n, auto c, auto s) {
      const auto i = at(place(view, n, c, s));
      dx[i] = factor(c) * (dz[i] - dbeta[at(c)] / count() -
                           centred(i, c) * inverse(c) * dgamma[at(c)] / count());
    });
  }
};

/// Every other view has two gradients where the views in between have one.
inline std::vector<Case> cases() {
  std::vector<Case> all;
  bool two_gradients = false;
  for (const ChannelView& view : views()) {
    for (const bool residual : {false, true}) {
      for (const auto activation :
           {ActivationKind::none, ActivationKind::relu, ActivationKind::relu6}) {
        all.push_back({.view = view,
                       .scale = !residual,
                       .residual = residual,
                       .two_gradients = two_gradients,
                       .activation = activation});
        two_gradients = !two_gradients;
      }
    }
    two_gradients = !two_gradients;
  }
  return all;
}

/// One of the `count` values of an enumeration: over the cases, each occurs with each epilogue.
template <class Enumeration>
Enumeration rotated(std::size_t index, std::size_t count) {
  constexpr std::size_t kEpilogues = 6;
  return static_cast<Enumeration>((index + index / kEpilogues) % count);
}

inline void expect_close(const ChannelView& view, const GuardedFloats& given,
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
    EXPECT_TRUE(padding_is_zero(view, given.values()));
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

/// Which memory dx and dresidual share.
enum class Overwrite { none, dx_on_dy, dresidual_on_dy, dx_on_x, on_second_dy };

struct Backward {
  GuardedFloats dy, second_dy, x, gamma, mean, variance, y, apart_dx, apart_dresidual, dbeta,
      dgamma;
  float* dx;
  float* dresidual;

  Backward(const Case& c, ThreadTeam& team, Overwrite overwrite)
      : dy(c.dy),
        second_dy(c.second_dy),
        x(c.x),
        gamma(c.gamma),
        mean(std::vector<float>(c.mean.begin(), c.mean.end())),
        variance(std::vector<float>(c.variance.begin(), c.variance.end())),
        y(std::vector<float>(c.y.begin(), c.y.end())),
        apart_dx(c.view.elements()),
        apart_dresidual(c.view.elements()),
        dbeta(c.view.channels),
        dgamma(c.view.channels),
        dx(dx_place(c, overwrite)),
        dresidual(!c.residual                               ? nullptr
                  : overwrite == Overwrite::dresidual_on_dy ? dy.data()
                  : overwrite == Overwrite::on_second_dy    ? second_dy.data()
                                                            : apart_dresidual.data()) {
    const Scratch scratch(channel_workspace_bytes(c.view, team.size()));
    batch_norm_backward(team, {.view = c.view,
                               .dy = dy.data(),
                               .second_dy = c.two_gradients ? second_dy.data() : nullptr,
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
    return data == dy.data()          ? dy
           : data == second_dy.data() ? second_dy
           : data == x.data()         ? x
           : data == apart_dx.data()  ? apart_dx
                                      : apart_dresidual;
  }

 private:
  float* dx_place(const Case& c, Overwrite overwrite) {
    const bool x_is_read_later = c.two_gradients && !c.residual;
    if (overwrite == Overwrite::dx_on_dy) {
      return dy.data();
    }
    if (overwrite == Overwrite::dx_on_x && !x_is_read_later) {
      return x.data();
    }
    return overwrite == Overwrite::on_second_dy && !c.residual ? second_dy.data() : apart_dx.data();
  }
};

}  // namespace bench::cpu::test
