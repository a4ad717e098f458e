#include "bench/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "bench/flags_table.h"
#include "models/base/errors.h"

namespace bench {
namespace {

using testing::HasSubstr;

std::string help() {
  std::ostringstream out;
  print_help(out);
  return out.str();
}

std::vector<std::string> help_lines() { return split_text(help(), '\n'); }

// The flag that a line of the help introduces, or nothing.
std::string_view introduced_flag(std::string_view line) {
  if (!line.starts_with("  --")) {
    return "";
  }
  line.remove_prefix(4);
  return line.substr(0, line.find_first_of(" ="));
}

// The lines about a flag, joined by single blanks.
std::string entry(std::string_view flag) {
  std::string text;
  bool inside = false;
  for (const std::string& line : help_lines()) {
    if (!introduced_flag(line).empty() || line.empty()) {
      inside = introduced_flag(line) == flag;
    }
    if (inside) {
      for (const std::string_view word : split_words(line)) {
        text += text.empty() ? "" : " ";
        text += word;
      }
    }
  }
  return text;
}

TEST(Help, IntroducesEveryFlagOnce) {
  std::map<std::string, int, std::less<>> introduced;
  for (const std::string& line : help_lines()) {
    if (!introduced_flag(line).empty()) {
      ++introduced[std::string(introduced_flag(line))];
    }
  }
  EXPECT_EQ(introduced.size(), flag_table().size());
  for (const FlagRow& row : flag_table()) {
    EXPECT_EQ(introduced[std::string(row.name)], 1) << row.name;
  }
}

TEST(Help, FitsAHundredColumns) {
  for (const std::string& line : help_lines()) {
    EXPECT_LE(line.size(), 100) << line;
  }
}

TEST(Help, HasTheGroupsInOrder) {
  std::size_t place = 0;
  for (const FlagGroup group :
       {FlagGroup::kRun, FlagGroup::kData, FlagGroup::kLearning, FlagGroup::kFp16,
        FlagGroup::kVariables, FlagGroup::kPerformance, FlagGroup::kOutput, FlagGroup::kOwn}) {
    place = help().find(cat("\n", title_of(group), "\n"), place);
    ASSERT_NE(place, std::string::npos) << title_of(group);
  }
}

TEST(Help, ShowsDefaultsAndAcceptedValues) {
  EXPECT_EQ(entry("display_every"),
            "--display_every=INT print a line every so many steps; step 1 is always printed "
            "(at least 1; default 10)");
  EXPECT_EQ(entry("momentum"),
            "--momentum=NUM momentum of --optimizer=momentum (at least 0; default 0.9)");
  EXPECT_THAT(entry("optimizer"), HasSubstr("(one of sgd, momentum, rmsprop, adam; default sgd)"));
  EXPECT_THAT(entry("fuse_decode_and_crop"), HasSubstr("(default true)"));
}

TEST(Help, MarksWhatIsNotBuilt) {
  EXPECT_THAT(entry("optimizer"), HasSubstr("[built: sgd, momentum]"));
  EXPECT_THAT(entry("eval"), HasSubstr("[not built yet]"));
  EXPECT_THAT(entry("xla"), HasSubstr("[not applicable: "));
  EXPECT_THAT(entry("use_tf_layers"), HasSubstr("[no effect: "));
  EXPECT_THAT(entry("batch_size"), testing::Not(HasSubstr("[")));
}

TEST(Help, EndsWithExamples) {
  const std::string text = help();
  const std::size_t examples = text.find("\nExamples\n");
  ASSERT_NE(examples, std::string::npos);
  EXPECT_NE(text.find("    bench --model=", examples), std::string::npos);
}

}  // namespace
}  // namespace bench
