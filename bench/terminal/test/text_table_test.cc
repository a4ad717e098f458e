#include "bench/terminal/text_table.h"

#include <gtest/gtest.h>

#include <sstream>

#include "models/base/errors.h"

namespace bench {
namespace {

std::string text_of(const TextTable& table) {
  std::ostringstream text;
  text << table;
  return text.str();
}

TEST(TextTable, IsAsWideAsItsWidestCellsAndEndsWithoutBlanks) {
  TextTable table({{.title = "name"}, {.title = "size", .right = true}, {.title = "on"}});
  table.add_row({"a", "12345", "here"});
  table.add_row({"longer", "6", ""});
  EXPECT_EQ(text_of(table),
            "name     size  on\n"
            "a       12345  here\n"
            "longer      6\n");
}

TEST(TextTable, HasTitlesWithoutRows) {
  EXPECT_EQ(text_of(TextTable({{.title = "a"}, {.title = "b"}})), "a  b\n");
}

TEST(TextTable, RefusesRowsOfAnotherLength) {
  TextTable table({{.title = "a"}, {.title = "b"}});
  EXPECT_THROW(table.add_row({"1"}), InternalError);
}

}  // namespace
}  // namespace bench
