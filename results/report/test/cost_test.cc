#include "results/report/cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/errors.h"
#include "models/base/test/scratch_folder.h"
#include "results/report/page.h"
#include "results/report/prices.h"
#include "results/report/test/made_runs.h"

#include <fstream>

namespace bench::results {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

std::vector<SystemPrice> cost_of_text(const std::string& text) {
  const ScratchFolder folder;
  std::ofstream(folder.path() / "cost.json") << text;
  return read_cost_file(folder.path() / "cost.json");
}

TEST(Cost, ChargesPriceAndPowerForTheHoursOfUse) {
  const std::vector<SystemPrice> prices = cost_of_text(
      R"({"currency": "EUR", "years": 2, "utilization": 0.5, "kwh_price": 0.2, "pue": 1.5,
          "systems": [{"match": "EPYC", "capex": 1000, "watts": 100},
                      {"match": "rented", "hourly": 2}]})");
  const double hour = 1000 / (2 * 8760 * 0.5) + 1.5 * 0.1 * 0.2;
  const SystemPrice& bought = *price_of(prices, "", "an EPYC");
  EXPECT_NEAR(cost_per_hour(bought), hour, 1e-12);
  EXPECT_NEAR(cost_per_million(bought, 10), hour * 1e6 / 36000, 1e-9);
  EXPECT_EQ(cost_per_hour(*price_of(prices, "rented", "")), 2);
  EXPECT_EQ(price_of(prices, "other", "Xeon"), nullptr);
}

TEST(Cost, AWholeNameIsPreferredToAPartOfOne) {
  const std::vector<SystemPrice> prices = cost_of_text(
      R"({"currency": "EUR", "systems": [{"match": "EPYC", "hourly": 1},
                                         {"match": "EPYC 9654", "hourly": 2}]})");
  EXPECT_EQ(cost_per_hour(*price_of(prices, "EPYC 9654", "")), 2);
  EXPECT_EQ(cost_per_hour(*price_of(prices, "EPYC 7000", "")), 1);
}

TEST(Cost, NothingPerHourIsFree) {
  EXPECT_EQ(price_text({.currency = "EUR", .hourly = 0}), "free");
  EXPECT_EQ(price_text({.currency = "EUR", .hourly = 2.5}), "2.50 EUR per hour");
  EXPECT_EQ(price_text({.currency = "EUR", .capex = 12345, .years = 4}), "12,345 EUR");
}

TEST(Cost, EveryAssumptionIsPrinted) {
  const SystemPrice bare{.currency = "EUR", .capex = 1000, .years = 4};
  EXPECT_EQ(price_assumptions(bare),
            "Bought, and used for 4 years, 100% (assumed) of the time: 35,040 hours of use. "
            "Electricity is not counted, because no price per kWh is given.");
  const SystemPrice full{.currency = "EUR",
                         .capex = 1000,
                         .watts = 400,
                         .years = 4,
                         .utilization = 0.8,
                         .kwh_price = 0.25};
  EXPECT_THAT(price_assumptions(full),
              HasSubstr("80% of the time: 28,032 hours of use. Electricity for the hours of use: "
                        "400 W at the wall × PUE 1 (assumed) × 0.25 EUR per kWh."));
}

TEST(Cost, AMistakeInTheFileIsNamed) {
  const auto expect = [](const std::string& text, const std::string& part) {
    EXPECT_THAT([&] { cost_of_text(text); }, ThrowsMessage<UsageError>(HasSubstr(part))) << text;
  };
  expect("{", "the file is not valid JSON");
  expect("[]", "the file must be a JSON object");
  expect(R"({"systems": []})", "the file needs a non-empty string 'currency'");
  expect(R"({"currency": "EUR"})", "the file needs an array 'systems' with at least one entry");
  expect(R"({"currency": "EUR", "price": 1, "systems": []})",
         "the unknown member 'price'; it accepts currency, years");
  expect(R"({"currency": "EUR", "pue": -1, "systems": []})",
         "'pue' in the file must be a number of 0");
  expect(R"({"currency": "EUR", "systems": [{"match": "x"}]})",
         "systems[0] needs either 'capex' or 'hourly', and not both");
  expect(R"({"currency": "EUR", "systems": [{"hourly": 1}, {"hourly": 2}]})",
         "systems[0] needs a non-empty string 'match'");
  expect(R"({"currency": "EUR", "systems": [{"capex": 1}]})",
         "systems[0] has 'capex', so the file needs 'years' above 0");
  expect(R"({"currency": "EUR", "years": 1, "utilization": 2, "systems": [{"capex": 1}]})",
         "'utilization' must be above 0 and at most 1");
  expect(R"({"currency": "EUR", "years": 1, "kwh_price": 1, "systems": [{"capex": 1}]})",
         "systems[0] needs 'watts', because the file has a 'kwh_price'");
}

TEST(PriceOf, MatchesWholeWordsOnly) {
  const std::vector<SystemPrice> prices = {{.match = "a", .currency = "EUR", .hourly = 1}};
  EXPECT_NE(price_of(prices, "a", "node7, EPYC"), nullptr);
  EXPECT_NE(price_of(prices, "system a", "node7, EPYC"), nullptr);
  EXPECT_EQ(price_of(prices, "b", "lab1a, a4000, AMD EPYC"), nullptr);
}

TEST(Prices, AnEntryThatMatchesNoSystemIsRefused) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.threads = 1});
  add_repeats(runs, {.threads = 2});
  const std::vector<SystemPrice> prices = {{.match = "1 thread", .currency = "EUR", .hourly = 1},
                                           {.match = "H100", .currency = "EUR", .hourly = 2}};
  ReportData data = report_data(runs, {});
  EXPECT_THAT([&] { add_prices(data, prices); },
              ThrowsMessage<UsageError>(HasSubstr(
                  "the entry with \"match\": \"H100\" sets the price of no system; the systems are "
                  "'1 thread', '2 threads'")));
}

TEST(Prices, AreThoseOfTheRecordsWithoutAFile) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.threads = 1, .cost = {{"currency", "EUR"}, {"hourly", 3.0}}});
  add_repeats(runs, {.threads = 2});
  ReportData data = report_data(runs, {});
  add_prices(data, {});
  EXPECT_EQ(cost_per_hour(*data.systems[0].price), 3);
  EXPECT_FALSE(data.systems[1].price);
  EXPECT_THAT(report_page(runs, {}), HasSubstr("no price given"));
  runs.push_back(made_run({.threads = 1, .cost = {{"currency", "EUR"}, {"hourly", 4.0}}}, 9));
  EXPECT_THAT([&] { report_page(runs, {}); },
              ThrowsMessage<UsageError>(HasSubstr("'1 thread' have different prices")));
}

TEST(Prices, OfRecordsMustBeInOneCurrencyAndComplete) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.threads = 1, .cost = {{"currency", "EUR"}, {"hourly", 3.0}}});
  add_repeats(runs, {.threads = 2, .cost = {{"currency", "USD"}, {"hourly", 3.0}}});
  EXPECT_THAT([&] { report_page(runs, {}); },
              ThrowsMessage<UsageError>(HasSubstr("prices in EUR and USD; give prices in one")));
  std::vector<StoredRun> incomplete;
  add_repeats(incomplete, {.cost = {{"currency", "EUR"}, {"capex", 3.0}}});
  EXPECT_THAT([&] { report_page(incomplete, {}); },
              ThrowsMessage<UsageError>(HasSubstr("needs 'years' above 0")));
}

TEST(Prices, OfAnAnonymousReportMatchNamesThatItHides) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.host = "node7", .threads = 1});
  add_repeats(runs, {.host = "node8", .threads = 1});
  PageOptions options{.prices = {{.match = "node8", .currency = "EUR", .hourly = 1}}};
  options.report.anonymize = true;
  const std::string page = report_page(runs, options);
  EXPECT_THAT(page, HasSubstr("1 EUR per hour"));
  EXPECT_THAT(page, Not(HasSubstr("node8")));
}

}  // namespace
}  // namespace bench::results
