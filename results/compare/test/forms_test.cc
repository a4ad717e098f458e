#include "results/compare/forms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "results/compare/number_text.h"
#include "results/compare/test/made_runs.h"

namespace bench::results {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Comparison made_comparison() {
  std::vector<StoredRun> base = made_runs(8, {.rate = 212.4}, 0.003, 1);
  std::vector<StoredRun> other = made_runs(8, {.rate = 205.9, .kernel = "6.1.0-31"}, 0.003, 2);
  for (const auto& run : made_runs(8, {.model = "vgg<16>", .rate = 1904}, 0.02, 3))
    base.push_back(run);
  for (const auto& run :
       made_runs(8, {.model = "vgg<16>", .rate = 1904, .kernel = "6.1.0-31"}, 0.02, 4)) {
    other.push_back(run);
  }
  return compare({.name = "base", .runs = base}, {.name = "new", .runs = other}, {});
}

template <class Print>
std::string printed(Print print) {
  const Comparison comparison = made_comparison();
  std::ostringstream out;
  print(out, std::span(&comparison, 1));
  return out.str();
}

TEST(Numbers, HaveFourDigitsAndThousandsApart) {
  EXPECT_EQ(number_text(212.44), "212.4");
  EXPECT_EQ(number_text(1904.2), "1,904");
  EXPECT_EQ(number_text(1234567), "1,234,567");
  EXPECT_EQ(number_text(0.0123456), "0.01235");
  EXPECT_EQ(number_text(-1904), "-1,904");
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(1e-9), "1e-09");
  EXPECT_EQ(number_text(25), "25");
}

TEST(Numbers, ChangesHaveASign) {
  EXPECT_EQ(change_text(-0.0312), "-3.1%");
  EXPECT_EQ(change_text(0.0004), "+0.04%");
  EXPECT_EQ(change_text(-0.00004), "+0.00%");
  EXPECT_EQ(change_text(-0.00006), "-0.01%");
  EXPECT_EQ(change_text(1.5), "+150%");
}

TEST(Numbers, ProbabilitiesAreShort) {
  EXPECT_EQ(probability_text(0.0002), "=.0002");
  EXPECT_EQ(probability_text(1e-7), "<.0001");
  EXPECT_EQ(probability_text(1), "=1");
}

TEST(Numbers, WidthCountsCharacters) {
  EXPECT_EQ(display_width("±0.4%"), 5);
  EXPECT_EQ(padded("±1", 4), "±1  ");
  EXPECT_EQ(padded("±1", 4, true), "  ±1");
}

TEST(Forms, TextShowsEveryPartOfARow) {
  const std::string text = printed(print_text);
  EXPECT_THAT(text, HasSubstr("base (16 runs)"));
  EXPECT_THAT(text, HasSubstr("change [95% CI]"));
  EXPECT_THAT(text, HasSubstr("resnet50 train bs64 f32"));
  EXPECT_THAT(text, HasSubstr("REGRESSED"));
  EXPECT_THAT(text, HasSubstr("inconclusive (need"));
  EXPECT_THAT(text, HasSubstr("geomean"));
  EXPECT_THAT(text, HasSubstr("differs: host.kernel 6.1.0-28 -> 6.1.0-31"));
  EXPECT_THAT(text, HasSubstr("p=.0002 q=.0003"));
}

TEST(Forms, ColumnsOfTextAreAligned) {
  std::istringstream lines(printed(print_text));
  std::string line;
  std::vector<std::size_t> bars;
  while (std::getline(lines, line) && line.find("│") != std::string::npos) {
    bars.push_back(display_width(line.substr(0, line.find("│"))));
  }
  ASSERT_EQ(bars.size(), 5);
  for (const std::size_t bar : bars) EXPECT_EQ(bar, bars[0]);
}

TEST(Forms, ThePageDoesNotReverseItsText) {
  Comparison comparison = made_comparison();
  comparison.base_name = "base\u202e";
  std::ostringstream out;
  print_html(out, std::span(&comparison, 1));
  EXPECT_THAT(out.str(), Not(HasSubstr("\u202e")));
}

TEST(Forms, MarkdownEscapesAndFolds) {
  const std::string text = printed(print_markdown);
  EXPECT_THAT(text, HasSubstr("**1 regressed, 0 improved, 1 inconclusive of 2 rows**"));
  EXPECT_THAT(text, HasSubstr("vgg&lt;16>"));
  EXPECT_THAT(text, HasSubstr("<details>"));
  EXPECT_EQ(markdown_cell("a|b\n<i>*"), "a\\|b &lt;i>\\*");
  EXPECT_EQ(markdown_cell("\x1b[31m\u202e"), "\\\\x1b[31m\\\\xe2\\\\x80\\\\xae");
}

TEST(Forms, MarkdownFitsIntoAComment) {
  Comparison comparison = made_comparison();
  comparison.notes.assign(3000, "a note of some length, of which there are many");
  std::ostringstream out;
  print_markdown(out, std::span(&comparison, 1));
  EXPECT_LE(out.str().size(), 65536);
  EXPECT_THAT(out.str(), HasSubstr("The rest is omitted"));
}

TEST(Forms, JsonHoldsEveryValueAndBothProbabilities) {
  const auto json = nlohmann::json::parse(printed(print_json));
  EXPECT_EQ(json["schema"], "bench.compare/2");
  const auto& row = json["comparisons"][0]["rows"][0];
  EXPECT_EQ(row["verdict"], "regressed");
  EXPECT_EQ(row["base"]["values"].size(), 8);
  EXPECT_NEAR(row["change"].get<double>(), 205.9 / 212.4 - 1, 0.005);
  EXPECT_LE(row["p"].get<double>(), row["q"].get<double>());
  EXPECT_EQ(json["comparisons"][0]["environment"][0]["field"], "host.kernel");
}

TEST(Forms, HtmlHasARatioPerRowAndEveryRunAsADot) {
  const std::string page = printed([](std::ostream& out, std::span<const Comparison> comparisons) {
    print_html(out, comparisons);
  });
  const auto count = [&](const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = page.find(part); at != std::string::npos; at = page.find(part, at + 1)) {
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count("<circle class=\"ratio"), 2);
  EXPECT_EQ(count("<circle class=\"run\""), 32);
  EXPECT_EQ(count("<svg "), 3);
  EXPECT_THAT(page, HasSubstr("<title>CNN benchmarks: new compared with base</title>"));
  EXPECT_THAT(page, HasSubstr("1 regressed, 0 improved, 1 inconclusive of 2 rows."));
  EXPECT_THAT(page, HasSubstr("<strong class=\"warn\">REGRESSED</strong>"));
  EXPECT_THAT(page, HasSubstr("differs: host.kernel 6.1.0-28 -&gt; 6.1.0-31"));
  EXPECT_THAT(page, HasSubstr("vgg&lt;16&gt;"));
  const std::string_view head = "id=\"data\">";
  const std::size_t data = page.find(head) + head.size();
  const auto json = nlohmann::json::parse(page.substr(data, page.find("</script>", data) - data));
  EXPECT_EQ(json["comparisons"][0]["rows"][0]["base"]["values"].size(), 8);
}

TEST(Forms, CountADisturbedRowAndSkipIt) {
  std::vector<StoredRun> base = made_runs(8, {.rate = 100}, 0.003, 1);
  for (StoredRun& run : base) mark_disturbed(run);
  const Comparison comparison =
      compare({.name = "base", .runs = base},
              {.name = "new", .runs = made_runs(8, {.rate = 150}, 0.003, 2)}, {});
  const std::span one(&comparison, 1);
  EXPECT_EQ(verdicts_text(one), "0 regressed, 0 improved, 0 inconclusive, 1 disturbed of 1 row");
  std::ostringstream junit;
  print_junit(junit, one);
  EXPECT_THAT(junit.str(), HasSubstr("failures=\"0\" skipped=\"1\""));
  EXPECT_THAT(junit.str(), HasSubstr("<skipped message=\"disturbed ("));
  const auto row = comparisons_json(one)["comparisons"][0]["rows"][0];
  EXPECT_EQ(row["verdict"], "disturbed");
  EXPECT_EQ(row["disturbed_runs"]["base"], 8);
  EXPECT_EQ(row["disturbed_runs"]["new"], 0);
}

TEST(Forms, JunitFailsRegressedAndSkipsInconclusiveRows) {
  const std::string text = printed(print_junit);
  EXPECT_THAT(text, HasSubstr("tests=\"2\" failures=\"1\" skipped=\"1\""));
  EXPECT_THAT(text, HasSubstr("<testcase classname=\"bench.resnet50_train_bs64_f32\" "
                              "name=\"images_per_sec\">"));
  EXPECT_THAT(text, HasSubstr("<failure type=\"PerformanceRegression\""));
  EXPECT_THAT(text, HasSubstr("<skipped message=\"inconclusive"));
  EXPECT_THAT(text, HasSubstr("vgg&lt;16&gt;"));
  EXPECT_THAT(text, Not(HasSubstr("vgg<16>")));
}

}  // namespace
}  // namespace bench::results
