#include "results/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "results/report/published.h"
#include "results/report/test/made_runs.h"

namespace bench::results {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string page_of(bool anonymize = false) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.model = "lenet", .threads = 1, .speed = 100, .joules = 0.5});
  add_repeats(runs, {.model = "lenet", .threads = 2, .speed = 180, .disturbed = true});
  add_repeats(runs, {.model = "<b>&\"", .threads = 2, .speed = 20});
  add_repeats(runs, {.model = "lenet", .threads = 2, .devices = 2, .speed = 300});
  runs.push_back(made_run({.status = "failed"}, 30));
  PageOptions options;
  options.report.anonymize = anonymize;
  options.prices = {{.match = "1 thread", .currency = "EUR", .hourly = 2.0}};
  return report_page(runs, options);
}

TEST(Page, NeedsNoNetwork) {
  const std::string page = page_of();
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("http:")));
  EXPECT_THAT(page, Not(HasSubstr("https:")));
  for (const char* loads : {" src=", "url(", "@import", "<link", "onclick"}) {
    EXPECT_THAT(page, Not(HasSubstr(loads))) << loads;
  }
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(page, HasSubstr("@media print"));
}

TEST(Page, TextOfRecordsCannotBecomeMarkup) {
  const std::string page = page_of();
  EXPECT_THAT(page, Not(HasSubstr("<b>&\"")));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;&amp;&quot;, training"));
  EXPECT_THAT(page, HasSubstr("a &lt;/script&gt; b"));
  const std::size_t data = page.find("id=\"data\">");
  const std::size_t end = page.find("</script>", data);
  ASSERT_NE(end, std::string::npos);
  const std::string json = page.substr(data + 10, end - data - 10);
  const nlohmann::json parsed = nlohmann::json::parse(json);
  EXPECT_EQ(parsed["systems"].size(), 2U);
  EXPECT_EQ(parsed["workloads"].size(), 3U);
}

/// The number of times that the text occurs.
std::size_t times_in(const std::string& page, const std::string& text) {
  std::size_t times = 0;
  for (std::size_t at = page.find(text); at != std::string::npos; at = page.find(text, at + 1)) {
    ++times;
  }
  return times;
}

TEST(Page, ListsSharedValuesOfSystemsAndRunsOnce) {
  const std::string page = page_of();
  EXPECT_THAT(page, HasSubstr("<h3>All systems</h3>"));
  EXPECT_EQ(times_in(page, ">host.hostname<"), 1U);
  EXPECT_EQ(times_in(page, ">cpu.processors_used<"), 2U);
  // On 1 thread, on 2, on 2 devices, and the omitted run.
  EXPECT_EQ(times_in(page, "--model=lenet"), 4U);
}

TEST(Page, DefinesTheGeometricMeanAsComputed) {
  // Two runs each: the median of 100 and 400 is 250, that of their logarithms is 200's.
  const std::vector<StoredRun> runs = {
      made_run({.threads = 1, .speed = 100}), made_run({.threads = 1, .speed = 100}, 1),
      made_run({.threads = 2, .speed = 100}, 2), made_run({.threads = 2, .speed = 400}, 3)};
  const std::string page = report_page(runs, {});
  const std::size_t means = page.find("id=\"means\"");
  ASSERT_NE(means, std::string::npos);
  EXPECT_NE(page.find("2.00×", means), std::string::npos);
  EXPECT_THAT(page, HasSubstr("difference of the medians of the logarithms"));
}

TEST(Page, HasTheConclusionFirstAndTheStatisticsInTheAppendix) {
  const std::string page = page_of();
  std::size_t last = 0;
  for (const char* id :
       {"conclusion", "matrix", "cost", "scaling", "energy", "appendix", "systems", "intervals",
        "means", "ratios", "runs", "bounds", "quality", "definitions", "published", "disclosure"}) {
    const std::size_t at = page.find("<section id=\"" + std::string(id) + "\"");
    EXPECT_GT(at, last) << id << ": missing, or in another order";
    last = at;
    EXPECT_THAT(page, HasSubstr("href=\"#" + std::string(id) + "\"")) << id;
  }
  EXPECT_THAT(page, HasSubstr("1 run is omitted"));
  EXPECT_THAT(page, HasSubstr("other work keeps about N of N processors busy"));
}

TEST(Page, ShowsTheUnitOfEachWorkload) {
  std::vector<StoredRun> runs;
  for (const int threads : {1, 2}) {
    add_repeats(runs, {.model = "lenet", .threads = threads, .speed = 100.0 * threads});
    add_repeats(runs, {.model = "lstm_lm", .threads = threads, .speed = 9.0, .unit = "tokens"});
  }
  PageOptions options;
  options.prices = {{.match = "1 thread", .currency = "EUR", .hourly = 2.0},
                    {.match = "2 threads", .currency = "EUR", .hourly = 2.0}};
  const std::string page = report_page(runs, options);
  for (const char* text :
       {"</b> tokens/s", "EUR per million tokens", "<small>tokens/s</small>", "</b> images/s",
        "EUR per million images", "costs least per unit of work.", "\"tokens_per_sec\":"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
}

TEST(Page, MarksDisturbedCells) {
  std::vector<StoredRun> runs;
  add_repeats(runs, {.threads = 1, .speed = 50, .disturbed = true});
  add_repeats(runs, {.threads = 2, .speed = 100});
  const std::string page = report_page(runs, {});
  EXPECT_THAT(page, HasSubstr("The reference of ratios is 2 threads."));
  EXPECT_THAT(page, HasSubstr("<b>Disturbed runs: 6 of 12</b>"));
  EXPECT_THAT(page, HasSubstr("disturbed: 6 of 6 runs"));
  EXPECT_THAT(page, HasSubstr("<small>? 0.50×"));
}

TEST(Page, EveryDrawingHasATitleAndADescription) {
  const std::string page = page_of();
  const std::regex drawing(
      "<svg role=\"img\" aria-labelledby=\"(\\S+) (\\S+)\"[^>]*>\\s*"
      "<title id=\"(\\S+)\">[^<]+</title>\\s*<desc id=\"(\\S+)\">[^<]+</desc>");
  int drawings = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), drawing), end; it != end; ++it) {
    EXPECT_EQ((*it)[1], (*it)[3]);
    EXPECT_EQ((*it)[2], (*it)[4]);
    ++drawings;
  }
  std::size_t all = 0;
  for (std::size_t at = page.find("<svg"); at != std::string::npos; at = page.find("<svg", at + 1))
    ++all;
  EXPECT_EQ(static_cast<std::size_t>(drawings), all);
  EXPECT_EQ(drawings, 6);  // Three workloads, one ratio, one mean, one scaling.
}

TEST(Page, AnonymousOnesNameNoHostAndNoPath) {
  const std::string named = page_of();
  EXPECT_THAT(named, HasSubstr("node7"));
  EXPECT_THAT(named, HasSubstr("/secret/place"));
  const std::string page = page_of(true);
  EXPECT_THAT(page, Not(HasSubstr("node7")));
  EXPECT_THAT(page, Not(HasSubstr("secret")));
  EXPECT_THAT(page, HasSubstr("System A: "));
  EXPECT_THAT(page, HasSubstr("EPYC"));
}

TEST(Published, EveryFigureHasASourceAndADate) {
  for (const PublishedFigure& figure : published_figures()) {
    EXPECT_GT(figure.images_per_sec, 0) << figure.hardware;
    EXPECT_FALSE(std::string(figure.source).empty()) << figure.hardware;
    EXPECT_FALSE(std::string(figure.date).empty()) << figure.hardware;
  }
}

}  // namespace
}  // namespace bench::results
