#include "variable_mgmt/collectives/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "models/base/errors.h"

namespace bench {
namespace {

struct PlannedCase {
  ScheduleRequest request;
  Schedule schedule;
  [[nodiscard]] std::string name() const {
    return fmt::format("{} {} members {} elements index {}", name_of(request.range),
                       request.members, request.elements, request.index);
  }
};

std::vector<PlannedCase> all_plans() {
  std::vector<AllReduceRange> ranges;
  for (const std::string& name : host_algorithms()) {
    for (const int shards : {1, 2, 3}) {
      if (shards == 1 || name == "xring" || name == "psgpu") {
        ranges.push_back({.algorithm = name, .shards = shards});
      }
    }
  }
  ranges.push_back({.algorithm = "collective", .shards = 2});
  ranges.push_back({.algorithm = "hierarchical/dgx1"});
  ranges.push_back({.algorithm = "hierarchical/gcp_v100"});
  std::vector<PlannedCase> plans;
  for (const AllReduceRange& range : ranges) {
    for (const int members : {1, 2, 3, 4, 5, 6, 7, 8}) {
      for (const std::size_t elements : {0U, 1U, 7U, 100U, 1000U, 300000U}) {
        for (const std::size_t index : {0U, 1U, 6U}) {
          const ScheduleRequest request{
              .range = range, .members = members, .elements = elements, .index = index};
          const bool halves = range.algorithm.starts_with("hierarchical");
          const bool possible =
              members == 1 || (members >= range.shards && (!halves || members % 2 == 0) &&
                               (!range.algorithm.ends_with("v100") || members == 8));
          if (possible) {
            plans.push_back({.request = request, .schedule = plan_schedule(request)});
          }
        }
      }
    }
  }
  return plans;
}

bool is_free(const ReduceStep& step, const std::vector<std::size_t>& done) {
  return std::all_of(step.after.begin(), step.after.end(), [&](const ReduceStep::After& after) {
    return done[static_cast<std::size_t>(after.rank)] >= after.steps;
  });
}

/// Does the steps in an order that the seed chooses, with `apply(rank, step number)` for each.
/// Returns false if no member can continue before all are done.
template <class Apply>
bool run_in_some_order(const Schedule& schedule, std::uint64_t seed, const Apply& apply) {
  std::mt19937_64 random(seed);
  std::vector<std::size_t> done(schedule.size());
  while (true) {
    std::vector<std::size_t> able;
    bool finished = true;
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
      if (done[rank] < schedule[rank].size()) {
        finished = false;
        if (is_free(schedule[rank][done[rank]], done)) {
          able.push_back(rank);
        }
      }
    }
    if (able.empty()) {
      return finished;
    }
    const std::size_t rank = able[random() % able.size()];
    apply(rank, done[rank]);
    ++done[rank];
  }
}

/// The bounds of all steps. Elements between two bounds are always processed together.
std::vector<std::size_t> bounds_of(const Schedule& schedule) {
  std::vector<std::size_t> bounds;
  for (const auto& steps : schedule) {
    for (const ReduceStep& step : steps) {
      bounds.push_back(step.begin);
      bounds.push_back(step.begin + step.count);
    }
  }
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  return bounds;
}

TEST(Schedule, GivesEveryMemberEachMembersElementsOnceInAnyOrder) {
  for (const PlannedCase& plan : all_plans()) {
    SCOPED_TRACE(plan.name());
    const Schedule& schedule = plan.schedule;
    ASSERT_EQ(schedule.size(), static_cast<std::size_t>(plan.request.members));
    std::vector<std::size_t> places = bounds_of(schedule);
    if (plan.request.elements == 0 || schedule.size() == 1) {
      continue;
    }
    ASSERT_EQ(places.front(), 0U);
    ASSERT_EQ(places.back(), plan.request.elements);
    places.pop_back();
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      // How often each member's memory contains each member's element: one digit per member.
      std::vector<std::vector<std::uint64_t>> memory(schedule.size(),
                                                     std::vector<std::uint64_t>(places.size()));
      std::uint64_t all = 0;
      for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
        std::fill(memory[rank].begin(), memory[rank].end(), std::uint64_t{1} << (8 * rank));
        all |= std::uint64_t{1} << (8 * rank);
      }
      ASSERT_TRUE(run_in_some_order(schedule, seed, [&](std::size_t rank, std::size_t number) {
        const ReduceStep& step = schedule[rank][number];
        for (std::size_t i = 0; i < places.size(); ++i) {
          if (places[i] >= step.begin && places[i] < step.begin + step.count) {
            std::uint64_t sum = 0;
            for (const int source : step.sources) {
              sum += memory[static_cast<std::size_t>(source)][i];
            }
            for (const int target : step.targets) {
              memory[static_cast<std::size_t>(target)][i] = sum;
            }
          }
        }
      })) << "the members wait for each other";
      for (const auto& elements : memory) {
        EXPECT_EQ(std::count(elements.begin(), elements.end(), all),
                  static_cast<std::ptrdiff_t>(elements.size()));
      }
    }
  }
}

bool overlap(const ReduceStep& a, const ReduceStep& b) {
  return a.begin < b.begin + b.count && b.begin < a.begin + a.count;
}

bool touches(const ReduceStep& step, const ReduceStep& other) {
  const auto in = [](const std::vector<int>& ranks, int rank) {
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  };
  return std::any_of(step.targets.begin(), step.targets.end(),
                     [&](int rank) { return in(other.targets, rank) || in(other.sources, rank); });
}

/// For each step of each rank: how many steps of every rank are certainly done when it begins.
using Clocks = std::vector<std::vector<std::vector<std::size_t>>>;

Clocks clocks_of(const Schedule& schedule) {
  Clocks clocks(schedule.size());
  run_in_some_order(schedule, 1, [&](std::size_t rank, std::size_t number) {
    std::vector<std::size_t> clock(schedule.size());
    const auto join = [&](std::size_t other, std::size_t steps) {
      if (steps > 0) {
        const auto& before = clocks[other][steps - 1];
        std::transform(clock.begin(), clock.end(), before.begin(), clock.begin(),
                       [](std::size_t a, std::size_t b) { return std::max(a, b); });
        clock[other] = std::max(clock[other], steps);
      }
    };
    join(rank, number);
    for (const ReduceStep::After& after : schedule[rank][number].after) {
      join(static_cast<std::size_t>(after.rank), after.steps);
    }
    clocks[rank].push_back(std::move(clock));
  });
  return clocks;
}

TEST(Schedule, NoStepTouchesWhatAnotherWritesUnlessOneIsSurelyFirst) {
  for (const PlannedCase& plan : all_plans()) {
    SCOPED_TRACE(plan.name());
    const Schedule& schedule = plan.schedule;
    const Clocks clocks = clocks_of(schedule);
    for (std::size_t a = 0; a < schedule.size(); ++a) {
      for (std::size_t b = 0; b < schedule.size(); ++b) {
        for (std::size_t i = 0; a != b && i < schedule[a].size(); ++i) {
          for (std::size_t j = 0; j < schedule[b].size(); ++j) {
            if (overlap(schedule[a][i], schedule[b][j]) &&
                touches(schedule[a][i], schedule[b][j])) {
              EXPECT_TRUE(clocks[b][j][a] > i || clocks[a][i][b] > j)
                  << "step " << i << " of " << a << " and step " << j << " of " << b;
            }
          }
        }
      }
    }
  }
}

TEST(Schedule, RefusesAlgorithmsThatTheMembersCannotRun) {
  const auto plan = [](const std::string& algorithm, int shards, int members) {
    plan_schedule(
        {.range = {.algorithm = algorithm, .shards = shards}, .members = members, .elements = 100});
  };
  EXPECT_THROW(plan("xring", 5, 4), UsageError);
  EXPECT_THROW(plan("psgpu", 5, 4), UsageError);
  EXPECT_THROW(plan("pscpu", 2, 4), UsageError);
  EXPECT_THROW(plan("nccl", 1, 4), UsageError);
  EXPECT_THROW(plan("pscpu/pscpu", 1, 4), UsageError);
  EXPECT_THROW(plan("hierarchical/dgx1", 1, 3), UsageError);
  EXPECT_THROW(plan("hierarchical/gcp_v100", 1, 4), UsageError);
}

TEST(Schedule, RingTakesTheOrderOfTheDevices) {
  const std::vector<int> order{2, 0, 1};
  const Schedule schedule = plan_schedule(
      {.range = {.algorithm = "xring"}, .members = 3, .elements = 96, .ring_order = order});
  EXPECT_EQ(schedule[0][0].sources, (std::vector{2, 0}));
  EXPECT_EQ(schedule[2][0].sources, (std::vector{1, 2}));
  const std::vector<int> twice{0, 0, 1};
  EXPECT_THROW(
      plan_schedule(
          {.range = {.algorithm = "xring"}, .members = 3, .elements = 96, .ring_order = twice}),
      UsageError);
}

}  // namespace
}  // namespace bench
