#include "kernels/cpu/optimizer.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>

#include "kernels/cpu/test/kernel_test.h"
#include "models/base/errors.h"

namespace bench::cpu {
namespace {

using test::close;
using test::GuardedFloats;
using test::random_floats;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// LARS's factor of the learning rate, otherwise 1.
double rate_factor(const OptimizerSettings& settings, const OptimizerSegment& segment,
                   const std::vector<double>& variables, const std::vector<float>& gradients,
                   double gradient_scale) {
  const auto* const lars = std::get_if<LarsRule>(&settings.rule);
  if (lars == nullptr || !segment.decayed || segment.count == 0) {
    return 1;
  }
  double w = 0;
  double g = 0;
  for (std::size_t i = segment.offset; i < segment.offset + segment.count; ++i) {
    w = std::hypot(w, variables[i]);
    g = std::hypot(g, gradients[i] * gradient_scale);
  }
  return lars->trust_coefficient * w / (g + settings.weight_decay * w + lars->epsilon);
}

/// The formulas of kernels/optimizer.h, element by element in double.
struct Oracle {
  std::vector<double> variables;
  std::array<std::vector<double>, 2> slots;

  void step(const OptimizerSettings& settings, std::span<const OptimizerSegment> segments,
            const std::vector<float>& gradients, const UpdateScalars& scalars) {
    for (const OptimizerSegment& segment : segments) {
      const double factor =
          rate_factor(settings, segment, variables, gradients, scalars.gradient_scale);
      for (std::size_t i = segment.offset; i < segment.offset + segment.count; ++i) {
        double& w = variables[i];
        double g = static_cast<double>(gradients[i]) * scalars.gradient_scale +
                   (segment.decayed ? settings.weight_decay * w : 0);
        g = settings.clip ? std::clamp(g, -*settings.clip, *settings.clip) : g;
        const double rate = scalars.learning_rate * factor;
        double& first = slots[0][i];
        double& second = slots[1][i];
        if (std::holds_alternative<SgdRule>(settings.rule)) {
          w -= rate * g;
        } else if (const auto* momentum = std::get_if<MomentumRule>(&settings.rule)) {
          first = momentum->momentum * first + g;
          w -= rate * g + rate * momentum->momentum * first;
        } else if (const auto* rmsprop = std::get_if<RmspropRule>(&settings.rule)) {
          first = rmsprop->decay * first + (1 - rmsprop->decay) * g * g;
          second = rmsprop->momentum * second + rate * g / std::sqrt(first + rmsprop->epsilon);
          w -= second;
        } else if (const auto* adam = std::get_if<AdamRule>(&settings.rule)) {
          first = adam->beta1 * first + (1 - adam->beta1) * g;
          second = adam->beta2 * second + (1 - adam->beta2) * g * g;
          const auto t = static_cast<double>(scalars.update);
          const double corrected =
              rate * std::sqrt(1 - std::pow(adam->beta2, t)) / (1 - std::pow(adam->beta1, t));
          w -= corrected * first / (std::sqrt(second) + adam->epsilon);
        } else if (const auto* lars = std::get_if<LarsRule>(&settings.rule)) {
          first = lars->momentum * first + rate * g;
          w -= first;
        }
      }
    }
  }
};

/// `count` slots of `elements` elements, all NaN.
struct Slots {
  Slots(std::size_t slots, std::int64_t count) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      memory.push_back(std::make_unique<GuardedFloats>(count));
      places.push_back(memory.back()->data());
    }
  }
  std::vector<std::unique_ptr<GuardedFloats>> memory;
  std::vector<void*> places;
};

TEST(OptimizerKernel, FollowsTheFormulasAcrossSegments) {
  const std::vector<OptimizerSegment> segments{{.offset = 0, .count = 5},
                                               {.offset = 8, .count = 1, .decayed = false},
                                               {.offset = 16, .count = 3001},
                                               {.offset = 3024, .count = 0},
                                               {.offset = 3024, .count = 2100, .decayed = false},
                                               // More than one part of LARS's norms.
                                               {.offset = 5124, .count = 70000}};
  constexpr std::int64_t kCount = 75124;
  const std::vector<OptimizerSettings> all_settings{
      {.rule = SgdRule{}},
      {.rule = SgdRule{}, .weight_decay = 0.01, .clip = 0.1},
      {.rule = MomentumRule{}},
      {.rule = MomentumRule{.momentum = 0.8}, .weight_decay = 0.01, .clip = 0.1},
      {.rule = RmspropRule{}},
      {.rule = RmspropRule{.decay = 0.8, .momentum = 0.7, .epsilon = 0.01},
       .weight_decay = 0.01,
       .clip = 0.1},
      {.rule = AdamRule{}},
      {.rule = AdamRule{.beta1 = 0.8, .beta2 = 0.9, .epsilon = 0.01},
       .weight_decay = 0.01,
       .clip = 0.1},
      {.rule = LarsRule{}},
      {.rule = LarsRule{.trust_coefficient = 0.5, .momentum = 0.8, .epsilon = 0.25},
       .weight_decay = 0.01,
       .clip = 0.1}};
  const auto start = random_floats(kCount, 1);
  for (const OptimizerSettings& settings : all_settings) {
    const OptimizerRow& row = row_of(settings.rule);
    SCOPED_TRACE(row.name);
    test::for_teams([&](ThreadTeam& team) {
      const GuardedFloats variables(start);
      const Slots slots(row.slots(), kCount);
      Oracle oracle{.variables = {start.begin(), start.end()}, .slots = {}};
      oracle.slots.fill(std::vector<double>(at(kCount), 0));
      for (std::size_t slot = 0; slot < row.slots(); ++slot) {
        oracle.slots[slot].assign(at(kCount), row.first_values[slot]);
      }
      OptimizerKernel kernel(settings, segments);
      kernel.reset(team, slots.places);
      for (std::uint64_t step = 1; step <= 3; ++step) {
        const UpdateScalars scalars{.learning_rate = 0.1 / static_cast<double>(step),
                                    .gradient_scale = 0.25,
                                    .update = static_cast<std::int64_t>(step)};
        const GuardedFloats gradients(random_floats(kCount, 1 + step));
        kernel.update(
            team,
            {.variables = variables.data(), .gradients = gradients.data(), .slots = slots.places},
            scalars);
        oracle.step(settings, segments, gradients.values(), scalars);
      }
      bool equal = variables.intact();
      for (const OptimizerSegment& segment : segments) {
        for (std::size_t i = segment.offset; i < segment.offset + segment.count; ++i) {
          const auto place = static_cast<std::int64_t>(i);
          equal = equal && close(static_cast<double>(variables[place]), oracle.variables[i], 1e-6);
          for (std::size_t slot = 0; slot < row.slots(); ++slot) {
            equal = equal && close(static_cast<double>((*slots.memory[slot])[place]),
                                   oracle.slots[slot][i], 1e-6);
          }
        }
      }
      EXPECT_TRUE(equal);
      // Elements between the segments do not change.
      for (const std::size_t gap : {5, 7, 9, 15, 3017, 3023}) {
        EXPECT_EQ(variables.data()[gap], start[gap]);
        for (const auto& slot : slots.memory) {
          EXPECT_TRUE(std::isnan(slot->data()[gap]));
        }
      }
      for (const auto& slot : slots.memory) {
        EXPECT_TRUE(slot->intact());
      }
    });
  }
}

TEST(OptimizerKernel, GivesTheSameBitsForEveryTeamSize) {
  constexpr std::size_t kTiles = 100;
  constexpr std::size_t kTile = 64;
  TileOrder reversed{.tiles = std::vector<std::uint32_t>(kTiles),
                     .elements = std::vector<std::uint16_t>(kTile)};
  std::iota(reversed.tiles.rbegin(), reversed.tiles.rend(), 0);
  std::iota(reversed.elements.rbegin(), reversed.elements.rend(), 0);
  const std::vector<OptimizerSegment> segments{
      {.offset = 0, .count = 9973, .copies = {{.offset = 0}}},
      {.offset = 10000, .count = kTiles * kTile, .copies = {{.offset = 10000, .order = reversed}}}};
  constexpr std::int64_t kCount = 10000 + kTiles * kTile;
  for (const OptimizerRow& row : all_optimizers()) {
    std::vector<float> first;
    std::vector<float> first_copies;
    for (int threads = 1; threads <= 3; ++threads) {
      ThreadTeam team(std::vector<int>(at(threads), 0), false);
      const GuardedFloats variables(random_floats(kCount, 1)), gradients(random_floats(kCount, 2));
      const test::GuardedTensor copies(DType::bf16, std::vector<float>(at(kCount), 7));
      const Slots slots(row.slots(), kCount);
      OptimizerKernel kernel({.rule = row.rule, .weight_decay = 1e-4}, segments);
      kernel.reset(team, slots.places);
      kernel.update(team,
                    {.variables = variables.data(),
                     .gradients = gradients.data(),
                     .slots = slots.places,
                     .copies = copies.data()},
                    {.learning_rate = 0.1});
      first = threads == 1 ? variables.values() : first;
      first_copies = threads == 1 ? copies.values() : first_copies;
      EXPECT_EQ(variables.values(), first);
      EXPECT_EQ(copies.values(), first_copies);
      const std::vector<float> rounded = test::rounded(DType::bf16, variables.values());
      EXPECT_TRUE(std::equal(first_copies.begin(), first_copies.begin() + 9973, rounded.begin()));
      EXPECT_TRUE(std::equal(first_copies.begin() + 10000, first_copies.end(), rounded.rbegin()));
    }
  }
}

TEST(OptimizerKernel, ClipKeepsNaN) {
  const std::vector<OptimizerSegment> segments{{.offset = 0, .count = 21}};
  test::for_teams([&](ThreadTeam& team) {
    const GuardedFloats variables(random_floats(21, 1)), gradients(21);
    OptimizerKernel({.clip = 1}, segments)
        .update(team, {.variables = variables.data(), .gradients = gradients.data()},
                {.learning_rate = 0.1});
    for (std::int64_t i = 0; i < 21; ++i) {
      EXPECT_TRUE(std::isnan(variables[i]));
    }
  });
}

TEST(OptimizerKernel, RefusesMomentumWithoutSlots) {
  ThreadTeam team({0}, false);
  OptimizerKernel kernel({.rule = MomentumRule{}}, {});
  EXPECT_THROW(kernel.update(team, {}, {}), InternalError);
  EXPECT_THROW(kernel.reset(team, {}), InternalError);
}

TEST(OptimizerKernel, RefusesCopiesWithoutMemory) {
  ThreadTeam team({0}, false);
  OptimizerKernel kernel({}, {{.offset = 0, .count = 4, .copies = {{.offset = 0}}}});
  EXPECT_THROW(kernel.update(team, {}, {}), InternalError);
}

/// A dense segment of 40 elements between tables, of 50 rows of 300 and of 7 rows of 8.
std::vector<OptimizerSegment> tables(bool sparse) {
  constexpr std::size_t kFirst = 50 * std::size_t{300};
  std::vector<OptimizerSegment> segments{{.offset = 0, .count = kFirst, .copies = {{.offset = 0}}},
                                         {.offset = kFirst, .count = 40},
                                         {.offset = kFirst + 40, .count = 56}};
  if (sparse) {
    segments[0].sparse_row = 300;
    segments[2].sparse_row = 8;
  }
  return segments;
}

/// The gradients of a tower: zeros except these rows and the dense segment.
struct TowerGradients {
  std::vector<std::int32_t> first;
  std::vector<std::int32_t> second;
  std::vector<float> gradients;

  TowerGradients(std::vector<std::int32_t> in_first, std::vector<std::int32_t> in_second, int seed)
      : first(std::move(in_first)), second(std::move(in_second)) {
    const std::vector<OptimizerSegment> segments = tables(/*sparse=*/true);
    const std::vector<float> values = random_floats(15096, seed);
    gradients.resize(values.size());
    const auto take = [&](std::size_t begin, std::size_t count) {
      std::copy_n(values.data() + begin, count, gradients.data() + begin);
    };
    take(segments[1].offset, segments[1].count);
    for (const std::int32_t row : first) {
      take(static_cast<std::size_t>(row) * 300, 300);
    }
    for (const std::int32_t row : second) {
      take(segments[2].offset + static_cast<std::size_t>(row) * 8, 8);
    }
  }
};

TEST(OptimizerKernel, UpdatesTheRowsOfSparseGradientsLikeThoseOfTheirDenseSum) {
  const OptimizerSettings settings{.rule = SgdRule{}, .clip = 0.5};
  const UpdateScalars scalars{.learning_rate = 0.25, .gradient_scale = 0.5};
  const std::array<TowerGradients, 3> towers{TowerGradients({0, 7, 49}, {6}, 1),
                                             TowerGradients({3, 49}, {0, 6}, 2),
                                             TowerGradients({7, 20}, {}, 3)};
  std::vector<float> sum = towers[0].gradients;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] += towers[1].gradients[i];
    sum[i] += towers[2].gradients[i];
  }
  const std::vector<float> before = random_floats(static_cast<std::int64_t>(sum.size()), 4);
  test::for_teams([&](ThreadTeam& team) {
    std::vector<float> right = before;
    std::vector<std::uint16_t> right_copies(15000);
    OptimizerKernel dense(settings, tables(/*sparse=*/false));
    const auto update_densely = [&](const UpdateScalars& with) {
      dense.update(
          team, {.variables = right.data(), .gradients = sum.data(), .copies = right_copies.data()},
          with);
    };
    update_densely({.learning_rate = 0});
    std::vector<std::uint16_t> copies = right_copies;
    update_densely(scalars);

    std::vector<float> variables = before;
    OptimizerKernel kernel(settings, tables(/*sparse=*/true));
    std::vector<SparseGradient> gradients;
    for (const auto rows : {&TowerGradients::first, &TowerGradients::second}) {
      for (const TowerGradients& tower : towers) {
        gradients.push_back({.rows = tower.*rows, .gradients = tower.gradients.data()});
      }
    }
    kernel.update(team,
                  {.variables = variables.data(),
                   .gradients = sum.data(),
                   .sparse = gradients,
                   .copies = copies.data()},
                  scalars);
    EXPECT_EQ(variables, right);
    EXPECT_EQ(copies, right_copies);
    EXPECT_NE(variables, before);
  });
}

TEST(OptimizerKernel, RefusesSparseGradientsWithADecayOrAnotherRuleOrWithoutRows) {
  ThreadTeam team({0}, /*pin=*/false);
  std::vector<float> variables(15096);
  std::vector<float> slot(variables.size());
  std::vector<std::uint16_t> copies(15000);
  const std::array<SparseGradient, 2> empty{};
  const auto update = [&](const OptimizerSettings& settings,
                          std::span<const SparseGradient> sparse) {
    OptimizerKernel kernel(settings, tables(/*sparse=*/true));
    const std::vector<void*> slots(row_of(settings.rule).slots(), slot.data());
    kernel.update(team,
                  {.variables = variables.data(),
                   .gradients = variables.data(),
                   .slots = slots,
                   .sparse = sparse,
                   .copies = copies.data()},
                  {});
  };
  EXPECT_NO_THROW(update({.rule = SgdRule{}}, empty));
  EXPECT_THROW(update({.rule = SgdRule{}, .weight_decay = 0.1}, empty), InternalError);
  EXPECT_THROW(update({.rule = MomentumRule{}}, empty), InternalError);
  EXPECT_THROW(update({.rule = SgdRule{}}, {}), InternalError);
}

}  // namespace
}  // namespace bench::cpu
