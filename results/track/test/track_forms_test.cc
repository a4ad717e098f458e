#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "results/track/forms.h"
#include "results/track/test/made_series.h"

namespace bench::results {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Tracked made_tracked() {
  std::vector<RunSeries> series = {
      made_series({.steps = {{30, 0.95}}}),
      made_series({.workload = "vgg<16>", .steps = {{25, 1.04}}, .seed = 2}),
      made_series({.workload = "quiet", .seed = 3}),
      made_series({.workload = "odd", .steps = {{59, 0.9}}, .seed = 4}),
      made_series({.workload = "same", .steps = {{20, 0.95}}, .seed = 5, .one_revision = true})};
  const std::vector<Annotation> annotations = {
      {.series_key = series[2].key, .run = series[2].points[5].run_ids[0], .text = "new fan"}};
  return track(series, {}, {}, annotations);
}

TEST(TrackForms, EachChangeHasALineAndTheSummaryIsTheLastOne) {
  EXPECT_EQ(summary(made_tracked()),
            "5 series: 1 new regressions, 0 known and open, 1 new improvements.");
  const std::vector<std::string> lines = news_lines(made_tracked());
  ASSERT_EQ(lines.size(), 4);
  EXPECT_THAT(lines[0], StartsWith("Slower: resnet50 train bs64 f32 -"));
  EXPECT_THAT(lines[1], StartsWith("Faster: vgg<16> +"));
  EXPECT_THAT(lines[2],
              StartsWith("Not caused by the code, according to the revision or the canary: same"));
  EXPECT_THAT(lines[3], StartsWith("Suspect in the newest run, not confirmed: odd"));
  std::ostringstream text;
  print_text(text, made_tracked(), false);
  EXPECT_THAT(text.str(), EndsWith(lines[3] + "\n" + summary(made_tracked()) + "\n"));
}

TEST(TrackForms, SeriesThatCannotBeJudgedYetAreReportedAndSkippedInJunit) {
  const std::vector<RunSeries> series = {made_series({.points = 3}),
                                         made_series({.workload = "new", .points = 3, .seed = 2}),
                                         made_series({.workload = "old", .seed = 3})};
  const Tracked tracked = track(series, {}, {}, {});
  EXPECT_THAT(news_lines(tracked), testing::ElementsAre("Not judged yet: 2 series, collecting a "
                                                        "baseline: point 3 of 8"));
  std::ostringstream junit;
  print_junit(junit, tracked);
  EXPECT_THAT(junit.str(), HasSubstr("tests=\"3\" failures=\"0\" skipped=\"2\""));
  EXPECT_THAT(junit.str(), HasSubstr("<skipped message=\"2025-01-03: not judged, collecting a "
                                     "baseline: point 3 of 8\"/>"));
}

TEST(TrackForms, ChangesJsonHasOnlyNewRegressionsAndImprovements) {
  const nlohmann::ordered_json json = changes_json(made_tracked());
  EXPECT_EQ(json["schema"], "bench.changes/1");
  EXPECT_EQ(json["summary"], summary(made_tracked()));
  EXPECT_EQ(json["lines"].size(), 4);
  ASSERT_EQ(json["changes"].size(), 2);
  EXPECT_EQ(json["changes"][0]["workload"], "resnet50 train bs64 f32");
  EXPECT_EQ(json["changes"][0]["verdict"], "regressed");
  EXPECT_EQ(json["changes"][1]["verdict"], "improved");
}

TEST(TrackForms, TextShowsSeriesWithoutNewsOnlyOnRequest) {
  std::ostringstream some;
  print_text(some, made_tracked(), false);
  EXPECT_THAT(some.str(), HasSubstr("CHANGE"));
  EXPECT_THAT(some.str(), HasSubstr("REGRESSED (id run1000030)"));
  EXPECT_THAT(some.str(), HasSubstr("revisions rev29..rev30"));
  EXPECT_THAT(some.str(), HasSubstr("new fan"));
  Tracked quiet = made_tracked();
  quiet.series[2].annotations.clear();
  std::ostringstream without;
  print_text(without, quiet, false);
  EXPECT_THAT(without.str(), Not(HasSubstr("quiet on node7")));
  std::ostringstream all;
  print_text(all, quiet, true);
  EXPECT_THAT(all.str(), HasSubstr("quiet on node7"));
}

TEST(TrackForms, TextAndMarkdownShowFiveDifferencesOfTheEnvironment) {
  SeriesChange change;
  for (int i = 0; i < 5; ++i) {
    change.environment.push_back(
        {.field = fmt::format("env.{}", i), .base = {"a"}, .other = {"b"}});
  }
  EXPECT_EQ(difference_lines(change).size(), 5U);
  EXPECT_EQ(difference_lines(change).back(), "differs: env.4 a -> b");
  change.environment.resize(30, change.environment.front());
  ASSERT_EQ(difference_lines(change).size(), 6U);
  EXPECT_EQ(difference_lines(change).back(), "25 more differ; --format=html and json list them");
}

TEST(TrackForms, JsonHoldsEveryPoint) {
  std::ostringstream out;
  print_json(out, made_tracked());
  const auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["schema"], "bench.track/3");
  EXPECT_EQ(json["series"][0]["points"].size(), 60);
  EXPECT_EQ(json["series"][0]["changes"][0]["verdict"], "regressed");
  EXPECT_EQ(json["series"][0]["changes"][0]["fails"], true);
  EXPECT_EQ(json["series"][0]["segments"].size(), 2);
  EXPECT_EQ(json["series"][4]["changes"][0]["cause"], "environment");
}

TEST(TrackForms, JunitFailsRegressionsAndSkipsSuspectSeries) {
  std::ostringstream out;
  print_junit(out, made_tracked());
  EXPECT_THAT(out.str(), HasSubstr("tests=\"5\" failures=\"1\" skipped=\"1\""));
  EXPECT_THAT(out.str(), HasSubstr("PerformanceRegression"));
  EXPECT_THAT(out.str(), HasSubstr("vgg&lt;16&gt;"));
}

TEST(TrackForms, JunitNameOfAWorkloadDoesNotDependOnTheOthers) {
  const auto named = [](const std::string& workload, const std::string& key) {
    RunSeries series = made_series({.points = 20});
    series.workload = workload;
    series.workload_key = key;
    std::ostringstream out;
    print_junit(out, track(std::span(&series, 1), {}, {}, {}));
    const std::string text = out.str();
    const std::size_t begin = text.find("classname=");
    return text.substr(begin, text.find(' ', begin) - begin);
  };
  const std::string alone = named("resnet50 train bs64 f32", "a");
  EXPECT_THAT(alone, HasSubstr("\"bench.resnet50_train_bs64_f32."));
  EXPECT_EQ(named("resnet50 train bs64 f32 (num_batches 20)", "a"), alone);
  EXPECT_NE(named("resnet50 train bs64 f32", "b"), alone);
}

TEST(TrackForms, HtmlDrawsEveryPointLevelChangeAndNote) {
  std::ostringstream out;
  print_html(out, made_tracked());
  const std::string page = out.str();
  const auto count = [&](const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = page.find(part); at != std::string::npos; at = page.find(part, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count("<svg "), 5);
  EXPECT_EQ(count("<circle class=\"point\""), 300);
  EXPECT_EQ(count("<line class=\"change\""), 3);
  EXPECT_EQ(count("<line class=\"level\""), 8);
  EXPECT_EQ(count("<rect class=\"band\""), 8);
  EXPECT_EQ(count("<circle class=\"odd\""), 1);
  EXPECT_EQ(count("<circle class=\"note\""), 1);
  EXPECT_THAT(page, HasSubstr("2025-01-06: new fan</title>"));
  EXPECT_THAT(page, HasSubstr("<li>quiet on node7, images_per_sec, run run1000005: new fan</li>"));
  EXPECT_THAT(page, HasSubstr("REGRESSED (id run1000030)"));
  EXPECT_THAT(page, HasSubstr("vgg&lt;16&gt;"));
  EXPECT_THAT(page, HasSubstr(">2025-02</text>"));
}

TEST(TrackForms, ASeriesOfOnePointCanBeDrawn) {
  const std::vector<RunSeries> series = {made_series({.points = 1})};
  std::ostringstream out;
  print_html(out, track(series, {}, {}, {}));
  EXPECT_THAT(out.str(), HasSubstr("<circle class=\"point\""));
  EXPECT_THAT(out.str(), Not(HasSubstr("nan")));
}

TEST(TrackForms, MarkdownListsChangesAndSeries) {
  std::ostringstream out;
  print_markdown(out, made_tracked());
  EXPECT_THAT(out.str(), HasSubstr("| series | change |"));
  EXPECT_THAT(out.str(), HasSubstr("vgg&lt;16>"));
  EXPECT_THAT(out.str(), HasSubstr("<details>"));
}

}  // namespace
}  // namespace bench::results
