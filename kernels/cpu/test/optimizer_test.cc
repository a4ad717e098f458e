#include "kernels/cpu/optimizer.h"

#include <algorithm>
#include <optional>

#include "kernels/cpu/test/kernel_test.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

using test::close;
using test::GuardedFloats;
using test::random_floats;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

struct Scalars {
  double learning_rate = 0.1;
  double gradient_scale = 0.25;
};

/// The formulas of kernels/backend.h, element by element in double.
struct Oracle {
  std::vector<double> variables;
  std::vector<double> slots;

  void step(const OptimizerSettings& settings, std::span<const OptimizerSegment> segments,
            const std::vector<float>& gradients, const Scalars& scalars) {
    for (const OptimizerSegment& segment : segments) {
      for (std::size_t i = segment.offset; i < segment.offset + segment.count; ++i) {
        double& w = variables[i];
        double g = static_cast<double>(gradients[i]) * scalars.gradient_scale +
                   (segment.decayed ? settings.weight_decay * w : 0);
        g = settings.clip ? std::clamp(g, -*settings.clip, *settings.clip) : g;
        if (settings.kind == OptimizerKind::sgd) {
          w -= scalars.learning_rate * g;
        } else {
          double& a = slots[i];
          a = settings.momentum * a + g;
          w -= scalars.learning_rate * g + scalars.learning_rate * settings.momentum * a;
        }
      }
    }
  }
};

TEST(OptimizerStep, FollowsTheFormulasAcrossSegments) {
  const std::vector<OptimizerSegment> segments{{.offset = 0, .count = 5},
                                               {.offset = 8, .count = 1, .decayed = false},
                                               {.offset = 16, .count = 3001},
                                               {.offset = 3024, .count = 0},
                                               {.offset = 3024, .count = 2100, .decayed = false}};
  constexpr std::int64_t kCount = 5124;
  const std::vector<OptimizerSettings> all_settings{
      {.kind = OptimizerKind::sgd, .clip = std::nullopt},
      {.kind = OptimizerKind::sgd, .weight_decay = 0.01, .clip = 0.1},
      {.kind = OptimizerKind::momentum, .clip = std::nullopt},
      {.kind = OptimizerKind::momentum, .momentum = 0.8, .weight_decay = 0.01, .clip = 0.1}};
  const auto start = random_floats(kCount, 1);
  for (const OptimizerSettings& settings : all_settings) {
    const bool momentum = settings.kind == OptimizerKind::momentum;
    test::for_teams([&](ThreadTeam& team) {
      const GuardedFloats variables(start), slots(std::vector<float>(at(kCount), 0.0F));
      Oracle oracle{.variables = {start.begin(), start.end()},
                    .slots = std::vector<double>(at(kCount), 0)};
      for (std::uint64_t step = 0; step < 3; ++step) {
        const Scalars scalars{.learning_rate = 0.1 / static_cast<double>(step + 1)};
        const GuardedFloats gradients(random_floats(kCount, 2 + step));
        optimizer_step(team, {.settings = settings,
                              .segments = segments,
                              .variables = variables.data(),
                              .gradients = gradients.data(),
                              .slots = momentum ? slots.data() : nullptr,
                              .learning_rate = scalars.learning_rate,
                              .gradient_scale = scalars.gradient_scale});
        oracle.step(settings, segments, gradients.values(), scalars);
      }
      bool equal = true;
      for (std::int64_t i = 0; i < kCount; ++i) {
        equal = equal && close(static_cast<double>(variables[i]), oracle.variables[at(i)], 1e-6) &&
                close(static_cast<double>(slots[i]), oracle.slots[at(i)], 1e-6);
      }
      EXPECT_TRUE(equal);
      EXPECT_TRUE(variables.intact() && slots.intact());
      // Between the segments nothing changes.
      for (const std::size_t gap : {5, 7, 9, 15, 3017, 3023}) {
        EXPECT_EQ(variables.data()[gap], start[gap]);
      }
    });
  }
}

TEST(OptimizerStep, GivesTheSameBitsForEveryTeamSize) {
  const std::vector<OptimizerSegment> segments{{.offset = 0, .count = 9973}};
  std::vector<float> first;
  for (int threads = 1; threads <= 3; ++threads) {
    ThreadTeam team(std::vector<int>(at(threads), 0), false);
    const GuardedFloats variables(random_floats(9973, 1)), gradients(random_floats(9973, 2)),
        slots(random_floats(9973, 3));
    optimizer_step(
        team,
        {.settings = {.kind = OptimizerKind::momentum, .weight_decay = 1e-4, .clip = std::nullopt},
         .segments = segments,
         .variables = variables.data(),
         .gradients = gradients.data(),
         .slots = slots.data(),
         .learning_rate = 0.1});
    first = threads == 1 ? variables.values() : first;
    EXPECT_EQ(variables.values(), first);
  }
}

TEST(OptimizerStep, ClipKeepsNaN) {
  const std::vector<OptimizerSegment> segments{{.offset = 0, .count = 21}};
  test::for_teams([&](ThreadTeam& team) {
    const GuardedFloats variables(random_floats(21, 1)), gradients(21);
    optimizer_step(team, {.settings = {.clip = 1},
                          .segments = segments,
                          .variables = variables.data(),
                          .gradients = gradients.data(),
                          .learning_rate = 0.1});
    for (std::int64_t i = 0; i < 21; ++i) {
      EXPECT_TRUE(std::isnan(variables[i]));
    }
  });
}

TEST(OptimizerStep, RefusesMomentumWithoutSlots) {
  ThreadTeam team({0}, false);
  EXPECT_THROW(
      optimizer_step(team, {.settings = {.kind = OptimizerKind::momentum, .clip = std::nullopt}}),
      InternalError);
}

}  // namespace
}  // namespace bench::cpu
