#include "kernels/cpu/elementwise.h"

#include <algorithm>

#include "kernels/cpu/dropout.h"
#include "kernels/cpu/test/kernel_test.h"
#include "models/base/philox.h"

namespace bench::cpu {
namespace {

using test::close;
using test::GuardedFloats;
using test::random_floats;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

const std::vector<std::int64_t> kCounts{0, 1, 3, 16, 37, 4096, 8193, 30011};

/// Runs kernel(team, a, b, y) with y apart, on a and on b, and compares each element with
/// expected(a, b).
template <class Kernel, class Expected>
void expect_elements(const Kernel& kernel, const Expected& expected, double tolerance) {
  for (const std::int64_t count : kCounts) {
    SCOPED_TRACE(count);
    const auto first = random_floats(count, 1);
    const auto second = random_floats(count, 2);
    test::for_teams([&](ThreadTeam& team) {
      for (int overwritten = 0; overwritten < 3; ++overwritten) {
        const GuardedFloats a(first), b(second), apart(count);
        const GuardedFloats& y = overwritten == 0 ? apart : overwritten == 1 ? a : b;
        kernel(team, a, b, y.data());
        bool equal = true;
        for (std::int64_t i = 0; i < count; ++i) {
          equal = equal && close(static_cast<double>(y[i]),
                                 expected(static_cast<double>(first[at(i)]),
                                          static_cast<double>(second[at(i)])),
                                 tolerance);
        }
        EXPECT_TRUE(equal);
        EXPECT_TRUE(y.intact());
      }
    });
  }
}

TEST(Add, AddsAndActivates) {
  for (const bool relu : {false, true}) {
    expect_elements(
        [&](ThreadTeam& team, const GuardedFloats& a, const GuardedFloats& b, float* y) {
          add(team, {.count = a.count(), .a = a.data(), .b = b.data(), .relu = relu, .y = y});
        },
        [&](double a, double b) { return relu ? std::max(a + b, 0.0) : a + b; }, 1e-7);
  }
}

TEST(Relu, CutsNegativesOff) {
  expect_elements([](ThreadTeam& team, const GuardedFloats& a, const GuardedFloats&,
                     float* y) { relu(team, a.count(), a.data(), y); },
                  [](double a, double) { return std::max(a, 0.0); }, 0);
}

TEST(Relu, KeepsNaN) {
  test::for_teams([](ThreadTeam& team) {
    const GuardedFloats x(35);
    relu(team, x.count(), x.data(), x.data());
    for (std::int64_t i = 0; i < x.count(); ++i) {
      EXPECT_TRUE(std::isnan(x[i]));
    }
  });
}

TEST(ReluBackward, PassesWhereTheOutputIsPositive) {
  expect_elements(
      [](ThreadTeam& team, const GuardedFloats& a, const GuardedFloats& b, float* y) {
        relu_backward(team, {.count = a.count(), .dy = a.data(), .y = b.data(), .dx = y});
      },
      [](double a, double b) { return b > 0 ? a : 0.0; }, 0);
}

TEST(ReluBackward, BlocksAtZero) {
  ThreadTeam team({0}, false);
  const GuardedFloats dy(std::vector<float>{1, 2, 3});
  const GuardedFloats y(std::vector<float>{0, -0.0F, 1e-30F});
  relu_backward(team, {.count = 3, .dy = dy.data(), .y = y.data(), .dx = dy.data()});
  EXPECT_EQ(dy.values(), (std::vector<float>{0, 0, 3}));
}

TEST(Scale, MultipliesByTheFactor) {
  expect_elements(
      [](ThreadTeam& team, const GuardedFloats& a, const GuardedFloats&, float* y) {
        scale(team, {.count = a.count(), .x = a.data(), .factor = -0.3, .y = y});
      },
      [](double a, double) { return -0.3 * a; }, 1e-7);
}

TEST(MovingAverage, DecaysTowardsTheBatch) {
  expect_elements(
      [](ThreadTeam& team, const GuardedFloats& a, const GuardedFloats& b, float* y) {
        moving_average(team, {.count = a.count(),
                              .running = a.data(),
                              .batch = b.data(),
                              .decay = 0.9,
                              .factor = 1.25,
                              .y = y});
      },
      [](double a, double b) { return 0.9 * a + 0.1 * 1.25 * b; }, 2e-7);
}

TEST(Fill, WritesTheValueAndNothingElse) {
  for (const std::int64_t count : kCounts) {
    test::for_teams([&](ThreadTeam& team) {
      const GuardedFloats y(count);
      fill(team, count, 2.5F, y.data());
      EXPECT_EQ(y.values(), std::vector<float>(at(count), 2.5F));
      zero_bytes(team, y.data(), at(count) * sizeof(float));
      EXPECT_EQ(y.values(), std::vector<float>(at(count), 0.0F));
      EXPECT_TRUE(y.intact());
    });
  }
}

TEST(Dropout, KeepsWhatTheFormulaKeeps) {
  const DropoutAttributes attributes{
      .keep = 0.7, .seed = 0x123456789ABCDEF0, .stream = 0x0FEDCBA987654321};
  for (const std::int64_t count : {1, 6, 4099}) {
    const auto values = random_floats(count, 1);
    for (const std::int32_t step : {0, 7}) {
      std::vector<float> expected(at(count));
      for (std::int64_t e = 0; e < count; ++e) {
        const auto words = philox4x32(
            {static_cast<std::uint32_t>(e / 4), 0, 0x87654321, static_cast<std::uint32_t>(step)},
            {0x9ABCDEF0, 0x0FEDCBA9});
        const double uniform = static_cast<double>(words[at(e % 4)] >> 8U) * 0x1.0p-24;
        expected[at(e)] = uniform < 0.7 ? values[at(e)] * static_cast<float>(1 / 0.7) : 0;
      }
      for (int threads = 1; threads <= 3; ++threads) {
        ThreadTeam team(std::vector<int>(at(threads), 0), false);
        const GuardedFloats x(values), y(count);
        const Dropout args{
            .attributes = attributes, .step = step, .count = count, .x = x.data(), .y = y.data()};
        dropout(team, args);
        EXPECT_EQ(y.values(), expected);
        Dropout in_place = args;
        in_place.y = x.data();
        dropout(team, in_place);
        EXPECT_EQ(x.values(), expected);
      }
    }
  }
}

TEST(Dropout, KeepsEverythingAtOne) {
  ThreadTeam team({0}, false);
  const auto values = random_floats(1000, 1);
  const GuardedFloats x(values);
  dropout(team, {.attributes = {.keep = 1}, .count = 1000, .x = x.data(), .y = x.data()});
  EXPECT_EQ(x.values(), values);
}

}  // namespace
}  // namespace bench::cpu
