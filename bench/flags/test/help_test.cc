#include "bench/flags/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "bench/flags/table.h"
#include "bench/flags/test/usage_error.h"
#include "models/base/errors.h"

namespace bench {
namespace {

using testing::HasSubstr;

std::string help(std::string_view topic = "all") {
  std::ostringstream out;
  print_help(out, topic);
  return out.str();
}

std::vector<std::string> help_lines(std::string_view topic = "all") {
  return split_text(help(topic), '\n');
}

// The flag that a line of the help introduces; empty if it introduces none.
std::string_view introduced_flag(std::string_view line) {
  if (!line.starts_with("  --")) {
    return "";
  }
  line.remove_prefix(4);
  return line.substr(0, line.find_first_of(" =["));
}

std::vector<std::string> introduced_flags(std::string_view topic) {
  std::vector<std::string> names;
  for (const std::string& line : help_lines(topic)) {
    if (!introduced_flag(line).empty()) {
      names.emplace_back(introduced_flag(line));
    }
  }
  return names;
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

TEST(Help, FitsATerminalOf80Columns) {
  for (const std::string& line : help_lines()) {
    EXPECT_LT(line.size(), 80) << line;
  }
}

TEST(Help, HasTheGroupsInOrder) {
  std::size_t place = 0;
  for (const FlagGroup group :
       {FlagGroup::kRun, FlagGroup::kData, FlagGroup::kLearning, FlagGroup::kFp16,
        FlagGroup::kVariables, FlagGroup::kPerformance, FlagGroup::kOutput, FlagGroup::kOwn}) {
    place = help().find(fmt::format("\n{} (--help=", title_of(group)), place);
    ASSERT_NE(place, std::string::npos) << title_of(group);
  }
}

TEST(Help, ShowsDefaultsAndAcceptedValues) {
  EXPECT_EQ(entry("display_every"),
            "--display_every=INT print a line every N steps; step 1 is always printed "
            "(at least 1; default 10)");
  EXPECT_EQ(entry("momentum"),
            "--momentum=NUM momentum of --optimizer=momentum or lars (at least 0; default 0.9)");
  EXPECT_THAT(entry("cuda_graph"), HasSubstr("(one of auto, on, off; default auto)"));
  EXPECT_THAT(entry("dtype"),
              HasSubstr("(one of f32, bf16, f16, f64, int8; also fp32, float32, "
                        "bfloat16, fp16, float16, half, fp64, float64; default f32)"));
  EXPECT_THAT(entry("fuse_decode_and_crop"), HasSubstr("(default true)"));
  EXPECT_THAT(entry("plan_for"),
              HasSubstr("sm_120, sm_121; or a file that describes a card; unset by default)"));
}

TEST(Help, ShowsTheFormOfEachText) {
  int forms = 0;
  for (const FlagRow& row : flag_table()) {
    if (!row.accepted.words.empty()) {
      EXPECT_THAT(entry(row.name), HasSubstr(fmt::format("({}", row.accepted.words))) << row.name;
      ++forms;
    }
  }
  EXPECT_GT(forms, 5);
}

TEST(Help, ShowsTheDefaultOfEveryFlag) {
  for (const FlagRow& row : flag_table()) {
    if (row.default_text) {
      const std::string value(row.default_text->empty() ? "empty" : *row.default_text);
      EXPECT_THAT(entry(row.name), HasSubstr(fmt::format("default {})", value)));
    } else {
      EXPECT_THAT(entry(row.name),
                  testing::AnyOf(HasSubstr("unset: "), HasSubstr("unset by default)")));
    }
  }
  EXPECT_EQ(entry("label_smoothing"),
            "--label_smoothing=NUM fraction of the loss target that is spread evenly over all "
            "classes (from 0 to below 1; default 0)");
  EXPECT_THAT(entry("overlap"), HasSubstr("(default true)"));
  EXPECT_THAT(entry("result_file"), HasSubstr("(unset by default)"));
}

TEST(Help, MarksWhatIsRefusedOrHasNoEffect) {
  EXPECT_THAT(entry("xla"), HasSubstr("[not applicable: "));
  EXPECT_THAT(entry("use_tf_layers"), HasSubstr("[no effect: "));
  EXPECT_THAT(entry("batch_size"), testing::Not(HasSubstr("[")));
}

TEST(Help, PutsWhatWorksFirstInEachGroup) {
  for (const FlagGroup group : flag_groups()) {
    bool ended = false;
    for (const std::string& name : introduced_flags(word_of(group))) {
      const FlagRow& row = *find_flag(name);
      EXPECT_EQ(row.group, group) << name;
      EXPECT_FALSE(works(row) && ended) << name;
      ended = !works(row);
    }
  }
  EXPECT_EQ(introduced_flags("data").front(), "data_dir");
  EXPECT_EQ(introduced_flags("data").size() + introduced_flags("fp16").size(), 24);
}

TEST(Help, HasATopicForEachFlagAndGroupInAnyCase) {
  EXPECT_EQ(introduced_flags("batch_size"), std::vector<std::string>{"batch_size"});
  EXPECT_EQ(help("--batch-size"), help("batch_size"));
  EXPECT_EQ(help("Data"), help("data"));
  EXPECT_EQ(help("ALL"), help("all"));
  for (const FlagRow& row : flag_table()) {
    EXPECT_EQ(introduced_flags(row.name), std::vector<std::string>{std::string(row.name)});
  }
}

TEST(Help, NamesTheTopicsForAnUnknownOne) {
  EXPECT_EQ(usage_error([] { help("datta"); }),
            "--help=datta: expected all, a flag's name, or a group: run, data, learning, fp16, "
            "variables, performance, output, own");
}

TEST(Help, ShowsTheFlagsForASynonym) {
  EXPECT_EQ(help("lr"), help("init_learning_rate"));
  EXPECT_EQ(help("--batchsize"), help("batch_size"));
  EXPECT_EQ(introduced_flags("amp"), (std::vector<std::string>{"use_fp16", "dtype"}));
  EXPECT_THAT(introduced_flags("weight_decai"), testing::Contains("weight_decay"));
  EXPECT_THAT(help("compile"), HasSubstr("bench has no flag --compile; every network is planned"));
}

TEST(Help, NamesEveryGroupInWhatItAccepts) {
  for (const FlagGroup group : flag_groups()) {
    EXPECT_THAT(std::string(find_flag("help")->accepted.words), HasSubstr(word_of(group)));
    EXPECT_THAT(help("most"), HasSubstr(word_of(group)));
    EXPECT_EQ(find_flag(word_of(group)), nullptr) << "a flag that no topic could mean";
  }
}

TEST(ShortHelp, FitsOneScreen) {
  const std::vector<std::string> lines = help_lines("most");
  EXPECT_LE(lines.size(), 31);  // the last line is empty
  for (const std::string& line : lines) {
    EXPECT_LT(line.size(), 80) << line;
  }
}

TEST(ShortHelp, ShowsTwentySupportedFlagsWithTheirDefaults) {
  std::vector<std::string> names;
  for (const MostUsedFlag& flag : most_used_flags()) {
    const FlagRow* row = find_flag(flag.name);
    ASSERT_NE(row, nullptr) << flag.name;
    EXPECT_TRUE(works(*row)) << flag.name;
    names.emplace_back(flag.name);
  }
  EXPECT_EQ(names.size(), 20);
  EXPECT_EQ(introduced_flags("most"), names);
  EXPECT_THAT(help("most"), HasSubstr("--display_every=INT       print a line every N steps "
                                      "(10)\n"));
  EXPECT_THAT(help("most"), HasSubstr("(the model's default)"));
}

TEST(ShortHelp, HasThreeExamplesThatParse) {
  int examples = 0;
  for (const std::string& line : help_lines("most")) {
    if (!line.starts_with("  bench ")) {
      continue;
    }
    ++examples;
    std::vector<std::string_view> arguments =
        split_words(std::string_view(line).substr(0, line.find('#')));
    arguments.erase(arguments.begin());
    EXPECT_NO_THROW(parse(arguments)) << line;
  }
  EXPECT_EQ(examples, 3);
}

}  // namespace
}  // namespace bench
