#include "kernels/runtime/layout_selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>

#include "models/base/errors.h"
#include "models/base/philox.h"

namespace bench {
namespace {

constexpr int kA = 0;
constexpr int kB = 1;

/// A chain of `nodes` nodes, each with one candidate per layout, costing as given.
LayoutProblem chain(const std::vector<std::array<double, 2>>& seconds, double reorder) {
  LayoutProblem problem;
  problem.starts = {kA, kB};
  problem.values.resize(seconds.size() + 1);
  problem.values[0].free_layouts = {kA, kB};
  for (std::size_t n = 0; n < seconds.size(); ++n) {
    const auto value = static_cast<int>(n);
    problem.nodes.push_back(
        {.inputs = {value},
         .outputs = {value + 1},
         .choices = {{{kA}, {kA}, seconds[n][0]}, {{kB}, {kB}, seconds[n][1]}}});
  }
  problem.reorder_seconds = [reorder](int, int, int) { return reorder; };
  return problem;
}

TEST(LayoutSelection, ReordersWhereTheFasterKernelPaysForIt) {
  const auto choice = select_layouts(chain({{1, 5}, {9, 1}}, /*reorder=*/2));
  EXPECT_EQ(choice.chosen, (std::vector<int>{0, 1}));
  EXPECT_DOUBLE_EQ(choice.seconds, 1 + 2 + 1);
}

TEST(LayoutSelection, StaysInOneLayoutWhenReordersCostMore) {
  const auto choice = select_layouts(chain({{1, 2}, {3, 1}, {1, 2}}, /*reorder=*/10));
  EXPECT_EQ(choice.chosen, (std::vector<int>{0, 0, 0}));
  EXPECT_DOUBLE_EQ(choice.seconds, 5);
}

TEST(LayoutSelection, CountsOneReorderForAllReadersOfALayout) {
  LayoutProblem problem = chain({{1, 100}}, /*reorder=*/3);
  for (int reader = 0; reader < 3; ++reader) {
    problem.values.emplace_back();
    problem.nodes.push_back(
        {.inputs = {1}, .outputs = {2 + reader}, .choices = {{{kB}, {kB}, 1.0}}});
  }
  EXPECT_DOUBLE_EQ(select_layouts(problem).seconds, 1 + 3 + 3);
}

TEST(LayoutSelection, AvoidsReordersForAKernelThatTakesAnyLayout) {
  LayoutProblem problem = chain({{1, 100}}, /*reorder=*/3);
  problem.values.emplace_back();
  problem.nodes.push_back(
      {.inputs = {1}, .outputs = {2}, .choices = {{{LayoutProblem::kAny}, {kB}, 1.0}}});
  EXPECT_DOUBLE_EQ(select_layouts(problem).seconds, 2);
}

TEST(LayoutSelection, ConvertsAGradientToItsVariablesLayout) {
  // Value 0 is the variable, value 2 its gradient, which only comes in layout B.
  LayoutProblem problem;
  problem.starts = {kA, kB};
  problem.values.resize(3);
  problem.values[0].free_layouts = {kA, kB};
  problem.values[2].deliver_as = 0;
  problem.nodes = {
      {.inputs = {0}, .outputs = {1}, .choices = {{{kA}, {kA}, 1.0}, {{kB}, {kA}, 1.5}}},
      {.inputs = {1}, .outputs = {2}, .choices = {{{kA}, {kB}, 1.0}}}};
  problem.reorder_seconds = [](int, int, int) { return 10.0; };
  const auto choice = select_layouts(problem);
  EXPECT_EQ(choice.layout_of[0], kB);
  EXPECT_DOUBLE_EQ(choice.seconds, 2.5);
}

TEST(LayoutSelection, HoldsFiltersAsTheirOnlyReaderWantsThem) {
  // Value 0 is the input, value 1 the filters.
  LayoutProblem problem;
  problem.starts = {kA};
  problem.values.resize(3);
  problem.values[0].free_layouts = {kA};
  problem.values[1].free_layouts = {kA, kB};
  problem.nodes = {{.inputs = {0, 1},
                    .outputs = {2},
                    .choices = {{{kA, kA}, {kA}, 2.0}, {{kA, kB}, {kA}, 1.0}}}};
  problem.reorder_seconds = [](int, int, int) { return 10.0; };
  const auto choice = select_layouts(problem);
  EXPECT_EQ(choice.layout_of[1], kB);
  EXPECT_DOUBLE_EQ(choice.seconds, 1);
}

TEST(LayoutSelection, ReordersAnInputThatMayNotHaveTheWantedLayout) {
  LayoutProblem problem = chain({{5, 1}}, /*reorder=*/2);
  problem.values[0].free_layouts = {kA};
  const auto choice = select_layouts(problem);
  EXPECT_EQ(choice.layout_of[0], kA);
  EXPECT_EQ(choice.chosen[0], 1);
  EXPECT_DOUBLE_EQ(choice.seconds, 2 + 1);
}

TEST(LayoutSelection, IsNeverWorseThanAnyUniformChoice) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed);
    std::vector<std::array<double, 2>> seconds(2 + random.below(12));
    std::array<double, 2> uniform{0, 0};
    for (auto& node : seconds) {
      node = {random.uniform(), random.uniform()};
      uniform[0] += node[0];
      uniform[1] += node[1];
    }
    const auto choice = select_layouts(chain(seconds, 0.3));
    EXPECT_LE(choice.seconds, std::min(uniform[0], uniform[1]) + 1e-12) << "seed " << seed;
  }
}

/// Residual blocks of convolutions with filters, in up to three layouts.
LayoutProblem random_network(std::uint64_t seed) {
  RandomStream random(seed);
  const auto nodes = static_cast<int>(3 + random.below(3));
  const int layouts = nodes == 3 ? 3 : 2;
  LayoutProblem problem;
  problem.thorough = true;
  for (int layout = 0; layout < layouts; ++layout) {
    problem.starts.push_back(layout);
  }
  const auto add_value = [&](std::vector<int> free) {
    problem.values.push_back({.free_layouts = std::move(free)});
    return static_cast<int>(problem.values.size()) - 1;
  };
  int x = add_value(problem.starts);
  int shortcut = x;
  for (int n = 0; n < nodes; ++n) {
    LayoutProblem::Node node{.inputs = {x}, .outputs = {add_value({})}, .choices = {}};
    const bool adds = n % 3 == 2;
    node.inputs.push_back(adds ? shortcut : add_value(problem.starts));
    for (int layout = 0; layout < layouts; ++layout) {
      const int other = adds ? layout : static_cast<int>(random.below(2)) * layout;
      node.choices.push_back({{layout, other}, {layout}, adds ? 0.1 : random.uniform()});
    }
    x = node.outputs[0];
    shortcut = adds ? x : shortcut;
    problem.nodes.push_back(node);
  }
  std::vector<double> costs(problem.values.size());
  std::generate(costs.begin(), costs.end(), [&] { return 0.4 * random.uniform(); });
  problem.reorder_seconds = [costs](int value, int, int) {
    return costs[static_cast<std::size_t>(value)];
  };
  return problem;
}

/// The least cost of all combinations of candidates and free layouts.
double exhaustive_seconds(const LayoutProblem& problem) {
  LayoutProblem fixed = problem;
  fixed.thorough = false;
  const auto split = [&](auto& options, const auto& again) {
    const auto all = options;
    double least = 1e9;
    for (const auto& one : all) {
      options = {one};
      least = std::min(least, again());
    }
    options = all;
    return least;
  };
  const std::function<double()> search = [&]() -> double {
    for (auto& node : fixed.nodes) {
      if (node.choices.size() > 1) {
        return split(node.choices, search);
      }
    }
    for (auto& value : fixed.values) {
      if (value.free_layouts.size() > 1) {
        return split(value.free_layouts, search);
      }
    }
    return select_layouts(fixed).seconds;
  };
  return search();
}

TEST(LayoutSelection, FindsTheBestPlanOfSmallNetworks) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const LayoutProblem problem = random_network(seed);
    EXPECT_NEAR(select_layouts(problem).seconds, exhaustive_seconds(problem), 1e-9)
        << "seed " << seed;
  }
}

TEST(LayoutSelection, ChangesSeveralNodesTogether) {
  // The change of one node alone costs more than it saves.
  LayoutProblem problem = chain({{3, 4}, {3, 4}, {3, 4}, {4, 3}, {4, 3}, {4, 3}}, /*reorder=*/1.5);
  EXPECT_DOUBLE_EQ(select_layouts(problem).seconds, 21);
  problem.thorough = true;
  EXPECT_EQ(select_layouts(problem).chosen, (std::vector<int>{0, 0, 0, 1, 1, 1}));
}

TEST(LayoutSelection, RefusesANodeWithoutCandidates) {
  LayoutProblem problem = chain({{1, 1}}, 1);
  problem.nodes[0].choices.clear();
  EXPECT_THROW(select_layouts(problem), InternalError);
}

}  // namespace
}  // namespace bench
