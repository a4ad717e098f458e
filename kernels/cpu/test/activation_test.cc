#include "kernels/cpu/activation.h"

#include <algorithm>

#include "kernels/cpu/test/kernel_test.h"

namespace bench::cpu {
namespace {

using test::close;
using test::GuardedFloats;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// A kind with its value and its slope, both as functions of the input, in double.
struct Kind {
  const char* name;
  ActivationKind kind;
  double (*value)(double x);
  double (*slope)(double x);
};

const std::vector<Kind> kKinds{
    {"none", ActivationKind::none, [](double x) { return x; }, [](double) { return 1.0; }},
    {"relu", ActivationKind::relu, [](double x) { return std::max(x, 0.0); },
     [](double x) { return x > 0 ? 1.0 : 0.0; }},
    {"relu6", ActivationKind::relu6, [](double x) { return std::clamp(x, 0.0, 6.0); },
     [](double x) { return x > 0 && x < 6 ? 1.0 : 0.0; }},
    {"sigmoid", ActivationKind::sigmoid, sigmoid,
     [](double x) { return sigmoid(x) * sigmoid(-x); }},
    {"tanh", ActivationKind::tanh, [](double x) { return std::tanh(x); },
     [](double x) { return 1 / (std::cosh(x) * std::cosh(x)); }},
    {"hard_sigmoid", ActivationKind::hard_sigmoid,
     [](double x) { return std::clamp(x + 3, 0.0, 6.0) / 6; },
     [](double x) { return x > -3 && x < 3 ? 1.0 / 6 : 0.0; }},
    {"silu", ActivationKind::silu, [](double x) { return x * sigmoid(x); },
     [](double x) { return sigmoid(x) * (1 + x * sigmoid(-x)); }},
    {"hard_swish", ActivationKind::hard_swish,
     [](double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; },
     [](double x) { return x <= -3  ? 0.0
                           : x >= 3 ? 1.0
                                    : (2 * x + 3) / 6; }}};

/// From far below to far above every kink, and the kinks themselves.
std::vector<float> inputs() {
  std::vector<float> x{-1000, -104, -89, -3, -0.0F, 0, 3, 6, 89, 104, 1000};
  const auto more = test::random_floats(4097, 1, 1, 4);
  x.insert(x.end(), more.begin(), more.end());
  return x;
}

TEST(Activation, EqualsDoubleApartAndInPlace) {
  const auto values = inputs();
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    test::for_teams([&](ThreadTeam& team) {
      for (const bool in_place : {false, true}) {
        const GuardedFloats x(values), apart(x.count());
        const GuardedFloats& y = in_place ? x : apart;
        activation(team, {.kind = kind.kind, .count = x.count(), .x = x.data(), .y = y.data()});
        bool equal = true;
        for (std::int64_t i = 0; i < y.count(); ++i) {
          equal = equal && close(static_cast<double>(y[i]),
                                 kind.value(static_cast<double>(values[at(i)])), 4e-7);
        }
        EXPECT_TRUE(equal);
        EXPECT_TRUE(y.intact());
      }
    });
  }
}

TEST(ActivationBackward, EqualsDoubleApartAndInPlace) {
  const auto values = inputs();
  const auto gradients = test::random_floats(static_cast<std::int64_t>(values.size()), 2);
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    test::for_teams([&](ThreadTeam& team) {
      for (int overwritten = 0; overwritten < 3; ++overwritten) {
        const GuardedFloats v(values), dy(gradients), apart(v.count());
        if (derivative_from_output(kind.kind)) {
          activation(team, {.kind = kind.kind, .count = v.count(), .x = v.data(), .y = v.data()});
        }
        const GuardedFloats& dx = overwritten == 0 ? apart : overwritten == 1 ? dy : v;
        activation_backward(team, {.kind = kind.kind,
                                   .count = v.count(),
                                   .dy = dy.data(),
                                   .v = v.data(),
                                   .dx = dx.data()});
        bool equal = true;
        for (std::int64_t i = 0; i < dx.count(); ++i) {
          const double slope = kind.slope(static_cast<double>(values[at(i)]));
          equal = equal && close(static_cast<double>(dx[i]),
                                 static_cast<double>(gradients[at(i)]) * slope, 1e-6);
        }
        EXPECT_TRUE(equal);
        EXPECT_TRUE(dx.intact());
      }
    });
  }
}

TEST(Activation, KeepsNaN) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    test::for_teams([&](ThreadTeam& team) {
      const GuardedFloats x(35);
      activation(team, {.kind = kind.kind, .count = x.count(), .x = x.data(), .y = x.data()});
      for (std::int64_t i = 0; i < x.count(); ++i) {
        EXPECT_TRUE(std::isnan(x[i]));
      }
    });
  }
}

TEST(Activation, HasItsLimitsAtInfinity) {
  test::for_teams([](ThreadTeam& team) {
    const auto of = [&](ActivationKind kind) {
      const GuardedFloats x(std::vector<float>{-kInfinity, kInfinity});
      activation(team, {.kind = kind, .count = 2, .x = x.data(), .y = x.data()});
      return x.values();
    };
    EXPECT_EQ(of(ActivationKind::relu6), (std::vector<float>{0, 6}));
    EXPECT_EQ(of(ActivationKind::sigmoid), (std::vector<float>{0, 1}));
    EXPECT_EQ(of(ActivationKind::tanh), (std::vector<float>{-1, 1}));
    EXPECT_EQ(of(ActivationKind::hard_sigmoid), (std::vector<float>{0, 1}));
  });
}

TEST(ActivationBackward, BlocksAtTheKinks) {
  struct Kinks {
    ActivationKind kind;
    std::vector<float> v;
    std::vector<float> dx;
  };
  const float third = 1.0F / 3;
  for (const Kinks& kinks : {Kinks{ActivationKind::relu, {0, -0.0F, 1e-30F}, {0, 0, 2}},
                             Kinks{ActivationKind::relu6, {0, 1e-30F, 6}, {0, 2, 0}},
                             Kinks{ActivationKind::hard_sigmoid, {0, 1e-30F, 1}, {0, third, 0}},
                             Kinks{ActivationKind::hard_swish, {-3, 0, 3}, {0, 1, 2}}}) {
    test::for_teams([&](ThreadTeam& team) {
      const GuardedFloats dy(std::vector<float>{2, 2, 2});
      const GuardedFloats v(kinks.v);
      activation_backward(
          team, {.kind = kinks.kind, .count = 3, .dy = dy.data(), .v = v.data(), .dx = dy.data()});
      EXPECT_EQ(dy.values(), kinks.dx);
    });
  }
}

TEST(Activation, In16BitsRoundsTheResultOnce) {
  const auto values = inputs();
  const auto count = static_cast<std::int64_t>(values.size());
  const auto gradients = test::random_floats(count, 2);
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    test::expect_halves_follow_f32([&](test::Run& run) {
      activation(run.team(), {.kind = kind.kind,
                              .dtype = run.dtype(),
                              .count = count,
                              .x = run.input(values),
                              .y = run.output(count)});
      void* const dy = run.overwritten(gradients);
      activation_backward(run.team(), {.kind = kind.kind,
                                       .dtype = run.dtype(),
                                       .count = count,
                                       .dy = dy,
                                       .v = run.input(values),
                                       .dx = dy});
    });
  }
}

}  // namespace
}  // namespace bench::cpu
