#include "results/page/html_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/page/markup.h"
#include "results/page/plots.h"
#include "results/page/sort_script.h"

namespace bench::results {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string made_page() {
  HtmlPage page("a <title>");
  page.add("first", "First & foremost", "<p>text</p>\n");
  return page.html(R"({"name": "</script><b>"})");
}

TEST(HtmlPage, AllowsTheScriptThatSortsAndNoOther) {
  const std::string page = made_page();
  EXPECT_THAT(page, HasSubstr("default-src 'none'; style-src 'unsafe-inline'; script-src " +
                              script_hash(sort_script()) + "\">"));
  EXPECT_THAT(page, HasSubstr("<script>" + std::string(sort_script()) + "</script>"));
  EXPECT_EQ(page.find("<script>"), page.rfind("<script>"));
}

TEST(HtmlPage, TextIsEscaped) {
  const std::string page = made_page();
  EXPECT_THAT(page, HasSubstr("<title>a &lt;title&gt;</title>"));
  EXPECT_THAT(page, HasSubstr("<h2>First &amp; foremost</h2>"));
  EXPECT_THAT(page, HasSubstr("<a href=\"#first\">First &amp; foremost</a>"));
  EXPECT_THAT(page, HasSubstr(R"({"name": "\u003c/script>\u003cb>"})"));
}

TEST(HtmlTable, LabelsTheCellsOfCards) {
  HtmlTable table("speeds", {"workload", "a &amp; b"});
  table.as_cards();
  table.row({"lenet", "7"});
  EXPECT_THAT(table.html(), HasSubstr("<div class=\"wide cards\""));
  EXPECT_THAT(table.html(), HasSubstr("<td data-label=\"a &amp; b\">7</td>"));
}

// Python: base64.b64encode(hashlib.sha256(b"abc").digest()).
TEST(ScriptHash, IsTheSha256InBase64) {
  EXPECT_EQ(script_hash("abc"), "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='");
}

TEST(ForestPlot, ShadesTheMarginIfGiven) {
  const std::vector<Branch> branches = {{.name = "work", .hover = "+1%", .log_ratio = 0.01}};
  EXPECT_THAT(forest_plot("ratios", "f", branches), Not(HasSubstr("<rect")));
  EXPECT_THAT(forest_plot("ratios", "f", branches, 0.02), HasSubstr("<rect class=\"band\""));
}

}  // namespace
}  // namespace bench::results
