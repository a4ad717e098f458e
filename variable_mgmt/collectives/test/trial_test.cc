#include "variable_mgmt/collectives/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "kernels/test/far_device.h"
#include "variable_mgmt/collectives/test/members.h"

namespace bench {
namespace {

using ::testing::HasSubstr;

/// Runs a trial on towers of the reference; returns what each threw, or "".
std::vector<std::string> run_trial(AllReduceTrial& trial, int members, int missing = -1) {
  std::vector<std::string> errors(static_cast<std::size_t>(members));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < members; ++rank) {
    if (rank != missing) {
      threads.emplace_back([&, rank] {
        try {
          const auto backend =
              make_far_backend(make_reference_backend(), {.kind = FarSchedule::Kind::eager});
          const auto stream = backend->make_stream();
          const auto soon = missing < 0 ? std::chrono::seconds(100) : std::chrono::seconds(1);
          trial.run(rank, *backend, *stream, {.deadline = std::chrono::steady_clock::now() + soon});
        } catch (const std::exception& error) {
          errors[static_cast<std::size_t>(rank)] = error.what();
        }
      });
    }
  }
  threads.clear();
  return errors;
}

TEST(AllReduceTrial, TimesEverySpecAsOftenAsAsked) {
  constexpr int kMembers = 3;
  AllReduceTrial trial({.names = tower_names(kMembers),
                        .specs = specs_to_try(kMembers),
                        .elements = {1000, 10, 5000},
                        .repetitions = 4});
  for (const std::string& error : run_trial(trial, kMembers)) {
    EXPECT_EQ(error, "");
  }
  const auto timings = trial.timings();
  ASSERT_EQ(timings.size(), specs_to_try(kMembers).size());
  for (const AllReduceTiming& timing : timings) {
    EXPECT_EQ(timing.seconds.size(), 4U);
    EXPECT_GT(timing.median(), 0);
    EXPECT_GE(timing.median(), quickest(timings).median());
  }
}

TEST(AllReduceTrial, TimesTheBoundInMemoryOfTheHost) {
  AllReduceTrial trial({.names = tower_names(2),
                        .specs = {parse_all_reduce_spec("shm")},
                        .elements = {100000, 7},
                        .chained = 3,
                        .repetitions = 2,
                        .bound = true});
  const auto run = [&](int rank) {
    const auto backend = make_reference_backend();
    const auto stream = backend->make_stream();
    trial.run(rank, *backend, *stream, test_patience());
  };
  std::jthread other([&] { run(1); });
  run(0);
  other.join();
  EXPECT_EQ(trial.bound().seconds.size(), 2U);
  EXPECT_GT(trial.bound().median(), 0);
}

TEST(AllReduceTrial, NamesATowerThatDoesNotCome) {
  AllReduceTrial trial({.names = tower_names(3), .specs = specs_to_try(3), .elements = {10}});
  const auto errors = run_trial(trial, 3, 1);
  EXPECT_THAT(errors[0], HasSubstr("tower 1 has not arrived"));
  EXPECT_THAT(errors[2], HasSubstr("tower 1 has not arrived"));
}

TEST(AllReduceTrial, SaysWhatItChoseAndTheFigures) {
  const std::vector<AllReduceTiming> timings{
      {.spec = parse_all_reduce_spec("shm"), .seconds = {0.003, 0.001, 0.002}},
      {.spec = parse_all_reduce_spec("pscpu:32k:xring#2"), .seconds = {0.001, 0.002}},
      {.spec = parse_all_reduce_spec("tree"), .seconds = {0.0301}}};
  EXPECT_EQ(describe_choice(timings), "pscpu:32768:xring#2 (1.50 ms; shm 2.00 ms, tree 30.10 ms)");
  EXPECT_EQ(describe_choice({timings[0]}), "shm (2.00 ms)");
}

}  // namespace
}  // namespace bench
