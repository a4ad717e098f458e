#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <iostream>
#include <vector>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "results/compare/comparison.h"
#include "results/compare/interleaved.h"
#include "results/compare/test/made_runs.h"

/// Simulates runs of equal programs, of which other programs slow some by 5 to 50 %. Prints how
/// often compare() calls them different, and how often it finds real changes on a quiet machine.
namespace bench::results {
namespace {

using stats::ChangeVerdict;

constexpr int kResamples = 300;

/// How many of the resamples had each verdict.
struct Verdicts {
  int regressed = 0;
  int improved = 0;
  int disturbed = 0;

  [[nodiscard]] double wrong() const {
    return 100.0 * (regressed + improved) / static_cast<double>(kResamples);
  }
  [[nodiscard]] double share(int count) const {
    return 100.0 * count / static_cast<double>(kResamples);
  }
  void count(ChangeVerdict verdict) {
    regressed += verdict == ChangeVerdict::kRegressed ? 1 : 0;
    improved += verdict == ChangeVerdict::kImproved ? 1 : 0;
    disturbed += verdict == ChangeVerdict::kDisturbed ? 1 : 0;
  }
};

struct BeforeAndAfter {
  Verdicts before{};  ///< With --trust-disturbed.
  Verdicts after{};
};

/// Makes runs of a program; other programs disturb some of them.
class SimulatedMachine {
 public:
  explicit SimulatedMachine(std::uint64_t seed) : random_(seed) {}

  /// One run. Its record reports the disturbance with this probability.
  StoredRun run(double rate, double cv, bool disturbed, double seen = 1) {
    StoredRun run = template_;
    double value = rate * std::exp(cv * static_cast<double>(random_.normal()));
    if (disturbed) {
      value *= 1 - slowdown_.value_or(uniform(0.05, 0.5));
      if (uniform(0, 1) < seen) mark_disturbed(run);
    }
    run.metrics["images_per_sec"].value = value;
    run.record_id = run.group_id = fmt::format("run{}", next_++);
    return run;
  }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(random_.uniform());
  }
  /// Slows all disturbed runs alike from now on.
  void fix_slowdown() { slowdown_ = uniform(0.05, 0.5); }

 private:
  RandomStream random_;
  StoredRun template_ = made_run({});
  std::optional<double> slowdown_{};
  int next_ = 0;
};

void judge_both(BeforeAndAfter& found, const std::vector<StoredRun>& base,
                const std::vector<StoredRun>& other, CompareOptions options) {
  for (const bool trust : {true, false}) {
    options.trust_disturbed = trust;
    const Comparison comparison =
        compare({.name = "base", .runs = base}, {.name = "new", .runs = other}, options);
    (trust ? found.before : found.after).count(comparison.rows.front().verdict);
  }
}

struct Phases {
  const char* name;
  std::size_t runs = 6;  ///< Per side.
  std::size_t base_disturbed = 0;
  std::size_t other_disturbed = 0;
  double cv = 0.01;
  double change = 0;          ///< From the base to the new program.
  double seen = 1;            ///< The share of the disturbances that records report.
  bool equally_slow = false;  ///< All runs of a side are slowed alike, but not those of the other.
};

BeforeAndAfter one_after_the_other(const Phases& phases, std::uint64_t seed) {
  SimulatedMachine machine(seed);
  BeforeAndAfter found;
  for (int i = 0; i < kResamples; ++i) {
    std::array<std::vector<StoredRun>, 2> sides;
    for (const bool is_other : {false, true}) {
      if (phases.equally_slow) machine.fix_slowdown();
      const std::size_t disturbed = is_other ? phases.other_disturbed : phases.base_disturbed;
      const double rate = is_other ? 100 * (1 + phases.change) : 100;
      for (std::size_t run = 0; run < phases.runs; ++run) {
        sides[is_other ? 1 : 0].push_back(
            machine.run(rate, phases.cv, run < disturbed, phases.seen));
      }
    }
    judge_both(found, sides[0], sides[1], {});
  }
  return found;
}

/// Pairs of runs in the order A B B A. `disturbed` is asked for each run, from 0.
BeforeAndAfter in_turn(std::size_t pairs, double cv, double change,
                       const std::function<bool(SimulatedMachine&, std::size_t)>& disturbed,
                       std::uint64_t seed) {
  SimulatedMachine machine(seed);
  BeforeAndAfter found;
  for (int i = 0; i < kResamples; ++i) {
    std::array<std::vector<StoredRun>, 2> sides;
    std::size_t number = 0;
    for (const bool is_other : interleaved_order(pairs)) {
      const double rate = is_other ? 100 * (1 + change) : 100;
      sides[is_other ? 1 : 0].push_back(machine.run(rate, cv, disturbed(machine, number++)));
    }
    judge_both(found, sides[0], sides[1], {.paired = true});
  }
  return found;
}

void print(const char* name, const BeforeAndAfter& found) {
  const auto line = [](const Verdicts& verdicts) {
    return fmt::format("{:5.1f} {:5.1f} {:5.1f}", verdicts.share(verdicts.regressed),
                       verdicts.share(verdicts.improved), verdicts.share(verdicts.disturbed));
  };
  std::cout << fmt::format("{:44} before {} | after {}\n", name, line(found.before),
                           line(found.after));
}

TEST(DisturbanceRates, EqualProgramsRarelyDifferOnADisturbedMachine) {
  std::cout << "% regressed, improved, disturbed of equal programs, one after the other\n";
  const std::vector<Phases> rows = {
      {.name = "6 quiet, 6 quiet"},
      {.name = "6 disturbed, 6 quiet", .base_disturbed = 6},
      {.name = "6 quiet, 6 disturbed", .other_disturbed = 6},
      {.name = "6 quiet, 4 disturbed + 2 quiet", .other_disturbed = 4},
      {.name = "the same, 4 of 5 disturbances reported", .other_disturbed = 4, .seen = 0.8},
      {.name = "6 quiet, 3 disturbed + 3 quiet", .other_disturbed = 3},
      {.name = "6 quiet, 2 disturbed + 4 quiet", .other_disturbed = 2},
      {.name = "6 quiet, 1 disturbed + 5 quiet", .other_disturbed = 1},
      {.name = "3 disturbed + 3 quiet on both sides", .base_disturbed = 3, .other_disturbed = 3},
      {.name = "6 disturbed, 6 disturbed", .base_disturbed = 6, .other_disturbed = 6},
      {.name = "the same, each side by another load",
       .base_disturbed = 6,
       .other_disturbed = 6,
       .equally_slow = true},
      {.name = "8 quiet, 1 disturbed + 7 quiet", .runs = 8, .other_disturbed = 1},
      {.name = "8 quiet, 2 disturbed + 6 quiet", .runs = 8, .other_disturbed = 2},
      {.name = "20 quiet, 2 disturbed + 18 quiet", .runs = 20, .other_disturbed = 2},
  };
  std::uint64_t seed = 1;
  for (const Phases& row : rows) {
    const BeforeAndAfter found = one_after_the_other(row, seed++);
    print(row.name, found);
    EXPECT_LE(found.after.wrong(), 6.5) << row.name << ": 1.3 times the nominal 5 %";
  }
}

TEST(DisturbanceRates, EqualProgramsRarelyDifferWhenTheyRunInTurn) {
  std::cout << "% regressed, improved, disturbed of equal programs, 8 pairs\n";
  struct Row {
    const char* name;
    std::function<bool(SimulatedMachine&, std::size_t)> disturbed;
  };
  const std::vector<Row> rows = {
      {"quiet", [](SimulatedMachine&, std::size_t) { return false; }},
      {"all disturbed", [](SimulatedMachine&, std::size_t) { return true; }},
      {"half disturbed, by chance",
       [](SimulatedMachine& machine, std::size_t) { return machine.uniform(0, 1) < 0.5; }},
      {"every second run", [](SimulatedMachine&, std::size_t run) { return run % 2 == 0; }},
      {"two of every four runs",
       [](SimulatedMachine&, std::size_t run) { return run % 4 / 2 == 0; }},
      {"always the new program",
       [](SimulatedMachine&, std::size_t run) { return run % 4 == 1 || run % 4 == 2; }},
  };
  std::uint64_t seed = 101;
  for (const Row& row : rows) {
    const BeforeAndAfter found = in_turn(8, 0.01, 0, row.disturbed, seed++);
    print(row.name, found);
    EXPECT_LE(found.after.wrong(), 6.5) << row.name << ": 1.3 times the nominal 5 %";
  }
}

TEST(DisturbanceRates, RealChangesAreFoundOnAQuietMachineAsBefore) {
  std::cout << "% regressed, improved, disturbed with a real change\n";
  const auto quiet = [](SimulatedMachine&, std::size_t) { return false; };
  for (const auto& [change, cv] : {std::pair(-0.02, 0.005), {-0.05, 0.02}}) {
    const std::string name = fmt::format("{:g} % at CV {:g} %", 100 * change, 100 * cv);
    const BeforeAndAfter apart =
        one_after_the_other({.name = "", .runs = 8, .cv = cv, .change = change}, 201);
    const BeforeAndAfter pairs = in_turn(8, cv, change, quiet, 202);
    print((name + ", 8 and 8 runs").c_str(), apart);
    print((name + ", 8 pairs").c_str(), pairs);
    EXPECT_EQ(apart.after.regressed, apart.before.regressed);
    EXPECT_EQ(pairs.after.regressed, pairs.before.regressed);
    EXPECT_GE(apart.after.share(apart.after.regressed), 95);
  }
}

}  // namespace
}  // namespace bench::results
