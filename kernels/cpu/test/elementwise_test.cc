#include "kernels/cpu/elementwise.h"

#include <algorithm>

#include "kernels/cpu/test/kernel_test.h"

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

TEST(Add, AddsTwoTensors) {
  expect_elements(
      [](ThreadTeam& team, const GuardedFloats& a, const GuardedFloats& b, float* y) {
        add(team, {.count = a.count(), .a = a.data(), .b = b.data(), .y = y});
      },
      [](double a, double b) { return a + b; }, 1e-7);
}

TEST(Multiply, MultipliesTwoTensors) {
  expect_elements(
      [](ThreadTeam& team, const GuardedFloats& a, const GuardedFloats& b, float* y) {
        multiply(team, {.count = a.count(), .a = a.data(), .b = b.data(), .y = y});
      },
      [](double a, double b) { return a * b; }, 1e-7);
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
        const MovingAverage average{.count = a.count(),
                                    .running = a.data(),
                                    .batch = b.data(),
                                    .decay = 0.9,
                                    .factor = 1.25,
                                    .y = y};
        moving_averages(team, std::span(&average, 1));
      },
      [](double a, double b) { return 0.9 * a + 0.1 * 1.25 * b; }, 2e-7);
}

TEST(ZeroBytes, WritesZerosAndNothingElse) {
  for (const std::int64_t count : kCounts) {
    test::for_teams([&](ThreadTeam& team) {
      const GuardedFloats y(random_floats(count, 1));
      zero_bytes(team, y.data(), at(count) * sizeof(float));
      EXPECT_EQ(y.values(), std::vector<float>(at(count), 0.0F));
      EXPECT_TRUE(y.intact());
    });
  }
}

TEST(Add, In16BitsRoundsTheSumOnce) {
  for (const std::int64_t count : kCounts) {
    SCOPED_TRACE(count);
    const auto first = random_floats(count, 1);
    const auto second = random_floats(count, 2);
    for (const bool in_place : {false, true}) {
      test::expect_halves_follow_f32([&](test::Run& run) {
        const void* const a = run.input(first);
        void* const b = in_place ? run.overwritten(second) : run.input(second);
        add(run.team(), {.dtype = run.dtype(),
                         .count = count,
                         .a = a,
                         .b = b,
                         .y = in_place ? b : run.output(count)});
      });
    }
  }
}

}  // namespace
}  // namespace bench::cpu
