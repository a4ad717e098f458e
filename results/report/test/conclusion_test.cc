#include "results/report/conclusion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/report/page.h"
#include "results/report/prices.h"
#include "results/report/test/made_runs.h"

namespace bench::results {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// System "2 threads" is 1.5 times as fast as "1 thread".
std::vector<StoredRun> two_systems(bool disturbed = false) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.threads = 1, .speed = 100});
  add_repeats(runs, {.threads = 2, .speed = 150, .disturbed = disturbed});
  return runs;
}

std::vector<SystemPrice> hourly(double one, double two) {
  return {{.match = "1 thread", .currency = "EUR", .hourly = one},
          {.match = "2 threads", .currency = "EUR", .hourly = two}};
}

std::string conclusion_of(const std::vector<StoredRun>& runs,
                          const std::vector<SystemPrice>& prices = {}) {
  ReportData data = report_data(runs, {});
  add_prices(data, prices);
  return conclusion(data);
}

TEST(Conclusion, NamesTheSystemThatIsFastestAndCheapest) {
  EXPECT_THAT(
      conclusion_of(two_systems(), hourly(1, 1)),
      AllOf(HasSubstr("<p class=\"choice\">Best choice: 2 threads</p>"),
            HasSubstr("It is the fastest, and it costs least per image."),
            HasSubstr("1.50× the speed of 1 thread"), HasSubstr("0.67× the cost of 1 thread")));
}

TEST(Conclusion, SaysWhatSpeedCostsIfTheyDiffer) {
  EXPECT_THAT(conclusion_of(two_systems(), hourly(1, 3)),
              AllOf(HasSubstr("Best choice: 1 thread for cost, 2 threads for speed"),
                    HasSubstr("2 threads is 1.50× as fast as 1 thread and costs 2.00× as much per "
                              "image.")));
}

TEST(Conclusion, AFreeSystemIsCheapest) {
  EXPECT_THAT(conclusion_of(two_systems(), hourly(1, 0)),
              AllOf(HasSubstr("Best choice: 2 threads"), HasSubstr("It is free."),
                    HasSubstr("<td>free</td>")));
}

TEST(Conclusion, DoesNotCallAPaidSystemTheBestChoiceIfSeveralAreFree) {
  std::vector<StoredRun> runs = two_systems();
  add_repeats(runs, {.threads = 3, .speed = 120});
  std::vector<SystemPrice> prices = hourly(0, 1);
  prices.push_back({.match = "3 threads", .currency = "EUR", .hourly = 0});
  EXPECT_THAT(conclusion_of(runs, prices),
              AllOf(HasSubstr(" are free; 2 threads is the fastest"),
                    Not(HasSubstr("Best choice: 2 threads")), Not(HasSubstr("do not show"))));
  EXPECT_THAT(
      conclusion_of(two_systems(), hourly(0, 0)),
      AllOf(HasSubstr("Best choice: 2 threads"), HasSubstr("It is the fastest, and it is free.")));
}

TEST(Conclusion, SaysWhyItCannotCompareCostsWithOnePrice) {
  EXPECT_THAT(
      conclusion_of(two_systems(), {{.match = "2 threads", .currency = "EUR", .hourly = 1}}),
      AllOf(HasSubstr("It is the fastest. Fewer than two systems have a price."),
            Not(HasSubstr("do not show"))));
}

TEST(Conclusion, WithoutPricesSaysHowToGiveThem) {
  EXPECT_THAT(conclusion_of(two_systems()),
              AllOf(HasSubstr("Best choice: 2 threads"), HasSubstr("<code>--cost=FILE</code>"),
                    Not(HasSubstr("Cheapest"))));
}

TEST(Conclusion, NamesTheWarningThatAllRunsOfASystemHave) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.threads = 1, .speed = 100});
  add_repeats(runs, {.threads = 2, .speed = 150});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto& warnings = runs[i].record["quality"]["warnings"];
    warnings = nlohmann::json::array();
    if (i <= 6) warnings.push_back("a variable slows it");
  }
  const std::string page = conclusion_of(runs);
  EXPECT_THAT(page, HasSubstr("<b>All runs of 1 thread</b>: a variable slows it"));
  EXPECT_THAT(page, Not(HasSubstr("All runs of 2 threads")));
}

TEST(Conclusion, AnnouncesDisturbedRunsAndIsNotCertainThen) {
  EXPECT_THAT(conclusion_of(two_systems()), Not(HasSubstr("disturbed")));
  EXPECT_THAT(
      conclusion_of(two_systems(true)),
      AllOf(HasSubstr("<b>Disturbed runs: 6 of 12</b>"), HasSubstr("2 threads (6 of 6)"),
            HasSubstr("These runs do not show"),
            HasSubstr("Too many of their runs were disturbed."), Not(HasSubstr(">certain<"))));
}

TEST(Conclusion, IsNotCertainWithoutSixUndisturbedRunsOfEachSystem) {
  const auto with_one_disturbed_run = [](int quiet) {
    std::vector<StoredRun> runs;
    add_repeats(runs, {.threads = 1, .speed = 100}, 7);
    add_repeats(runs, {.threads = 2, .speed = 150}, quiet);
    runs.push_back(made_run({.threads = 2, .speed = 149, .disturbed = true}, quiet));
    return conclusion_of(runs);
  };
  EXPECT_THAT(with_one_disturbed_run(5),
              AllOf(HasSubstr("2 threads (1 of 6)"),
                    HasSubstr("certain only from 6 undisturbed runs of each workload"),
                    HasSubstr("Probably the best choice: 2 threads"), Not(HasSubstr(">certain<"))));
  EXPECT_THAT(with_one_disturbed_run(6),
              AllOf(HasSubstr("2 threads (1 of 7)"), HasSubstr(">certain<")));
}

TEST(Conclusion, OfEqualSystemsIsThatNobodyCanTell) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.threads = 1, .speed = 100});
  add_repeats(runs, {.threads = 2, .speed = 100.1});
  EXPECT_THAT(
      conclusion_of(runs),
      AllOf(HasSubstr("These runs do not show which system is the best choice"),
            HasSubstr("The first two are 2 threads and 1 thread. They differ by less than 1%.")));
}

TEST(Conclusion, IsGivenPerGroupOfWorkloads) {
  std::vector<StoredRun> runs = two_systems();
  add_repeats(runs, {.threads = 1, .speed = 300, .mode = "fwd"});
  add_repeats(runs, {.threads = 2, .speed = 200, .mode = "fwd"});
  EXPECT_THAT(conclusion_of(runs), AllOf(HasSubstr("training, f32<small>1 workload</small>"),
                                         HasSubstr("data-label=\"fastest\"><b>2 threads</b>"),
                                         HasSubstr("data-label=\"fastest\"><b>1 thread</b>")));
}

TEST(Conclusion, BestCellsAreMarkedInTheTableOfWorkloads) {
  const std::string page = report_page(two_systems(true), {.prices = hourly(1, 3)});
  EXPECT_THAT(page,
              AllOf(HasSubstr("images/s <span class=\"tag\">fastest? cannot tell</span>"),
                    HasSubstr("⚠ disturbed: 6 of 6 runs"),
                    HasSubstr("2.78 EUR per million images <span class=\"tag\">cheapest? cannot "
                              "tell</span>")));
  EXPECT_THAT(report_page(two_systems(), {.prices = hourly(1, 3)}),
              AllOf(HasSubstr("images/s <span class=\"tag certain\">fastest</span>"),
                    HasSubstr("images <span class=\"tag certain\">cheapest</span>")));
}

}  // namespace
}  // namespace bench::results
