#include "models/base/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <sstream>

#include "models/base/errors.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::array kOptions = {
    Option{.name = "format",
           .value = "FORM",
           .fallback = "text",
           .accepted = "text json csv",
           .meaning = "how"},
    Option{.name = "runs", .letter = 'n', .value = "N", .fallback = "8", .meaning = "how many"},
    Option{.name = "min-effect", .value = "SHARE", .fallback = "1%", .meaning = "least"},
    Option{.name = "by", .value = "KEY", .repeatable = true, .meaning = "group"},
    Option{.name = "max_size", .value = "N", .meaning = "most"},
    Option{.name = "strict", .meaning = "a switch"},
    Option{.name = "output", .letter = 'o', .value = "FILE", .meaning = "where"},
};

Arguments parse(const std::vector<std::string>& words) { return {"tool compare", kOptions, words}; }

std::string refusal(const std::vector<std::string>& words) {
  try {
    parse(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Arguments, TakesOptionsInEverySpelling) {
  const Arguments arguments =
      parse({"a", "--format=json", "-n", "4", "b", "--by", "x", "--by=y", "--strict", "-or.html"});
  EXPECT_THAT(arguments.operands(), ElementsAre("a", "b"));
  EXPECT_EQ(arguments.text("format"), "json");
  EXPECT_EQ(arguments.integer("runs", 1), 4);
  EXPECT_THAT(arguments.all("by"), ElementsAre("x", "y"));
  EXPECT_TRUE(arguments.has("strict"));
  EXPECT_EQ(arguments.text("output"), "r.html");
}

TEST(Arguments, FallBackToTheTable) {
  const Arguments arguments = parse({});
  EXPECT_EQ(arguments.text("format"), "text");
  EXPECT_FALSE(arguments.has("format"));
  EXPECT_EQ(arguments.integer("runs", 1), 8);
  EXPECT_FALSE(arguments.given("output"));
  EXPECT_DOUBLE_EQ(arguments.share("min-effect"), 0.01);
}

TEST(Arguments, CompareDashesAndUnderscoresAsEqual) {
  EXPECT_DOUBLE_EQ(parse({"--min_effect=0.02"}).share("min-effect"), 0.02);
  EXPECT_EQ(parse({"--max-size", "3"}).integer("max_size", 0), 3);
  EXPECT_EQ(refusal({"--max-size"}), "--max_size needs a value: N");
}

TEST(Arguments, TakeOperandsAfterTwoDashes) {
  EXPECT_THAT(parse({"--", "--format=json", "-"}).operands(), ElementsAre("--format=json", "-"));
}

TEST(Arguments, SplitNamesAtCommas) {
  EXPECT_THAT(parse({"--by=x,y", "--by=z"}).names("by"), ElementsAre("x", "y", "z"));
  EXPECT_THAT(parse({}).names("by"), ElementsAre());
  for (const std::string list : {"", "x,", ",x", "x,,y"}) {
    EXPECT_THAT([&] { static_cast<void>(parse({"--by=" + list}).names("by")); },
                ThrowsMessage<UsageError>("--by=" + list +
                                          ": a name is missing; separate several names by commas"));
  }
}

TEST(Arguments, TakeANegatedTermOfAFilterAsAnOperand) {
  EXPECT_THAT(parse({"-status:failed", "-tag.rack-1:a", "-oa:b"}).operands(),
              ElementsAre("-status:failed", "-tag.rack-1:a"));
  EXPECT_THAT(refusal({"-x:1"}), HasSubstr("-x:1: unknown option"));
  EXPECT_THAT(refusal({"--a:b"}), HasSubstr("--a:b: unknown option"));
}

TEST(Arguments, StopAtHelp) {
  EXPECT_TRUE(parse({"--help", "--unknown"}).help());
  EXPECT_TRUE(parse({"a", "-h"}).help());
  EXPECT_FALSE(parse({"--", "--help"}).help());
}

TEST(Arguments, RefuseAnUnknownOptionWithSimilarOnes) {
  EXPECT_EQ(refusal({"--formta=json"}), "--formta=json: unknown option; did you mean --format?");
  EXPECT_EQ(refusal({"--max-sizes=3"}), "--max-sizes=3: unknown option; did you mean --max_size?");
  EXPECT_EQ(refusal({"--help=all"}), "--help=all: unknown option; did you mean --help?");
  const std::string accepted =
      "unknown option; tool compare accepts --format, --runs, --min-effect, --by, --max_size, "
      "--strict, --output, --help";
  EXPECT_EQ(refusal({"--zzz"}), "--zzz: " + accepted);
  EXPECT_EQ(refusal({"--zzz=x"}), "--zzz=x: " + accepted);
  EXPECT_EQ(refusal({"-z"}), "-z: " + accepted);
}

TEST(Arguments, RefuseAValueThatIsNotAccepted) {
  EXPECT_EQ(refusal({"--format=jsno"}),
            "--format=jsno: unknown value; accepted: text, json, csv; did you mean json?");
  EXPECT_EQ(refusal({"--format="}), "--format=: unknown value; accepted: text, json, csv");
  EXPECT_EQ(refusal({"--strict=yes"}), "--strict takes no value, but was given 'yes'");
  EXPECT_EQ(refusal({"--output"}), "--output needs a value: FILE");
  EXPECT_EQ(refusal({"-n1", "-n2"}), "--runs was given twice: '1' and '2'");
}

TEST(Arguments, RefuseOperands) {
  parse({"--strict"}).refuse_operands();
  EXPECT_THAT(
      [] {
        parse({"--strict", "a"}).refuse_operands();
      },
      ThrowsMessage<UsageError>("unexpected operand 'a'; tool compare accepts only options"));
}

TEST(Arguments, AcceptNumbersInTheirRangeOnly) {
  const auto integer = [](const std::string& text, std::int64_t most) {
    return parse({"-n", text}).integer("runs", 1, most);
  };
  EXPECT_EQ(integer("5", 5), 5);
  for (const std::string text : {"many", "", "0", "6", "2x", "99999999999999999999"}) {
    EXPECT_THAT([&] { integer(text, 5); },
                ThrowsMessage<UsageError>("--runs=" + text + ": not an integer from 1 to 5"));
  }
  EXPECT_THAT([] { static_cast<void>(parse({"-n0"}).integer("runs", 1)); },
              ThrowsMessage<UsageError>("--runs=0: not an integer of at least 1"));
  const auto number = [](const std::string& text) {
    return parse({"--max_size", text}).number("max_size", 0, 0.9);
  };
  EXPECT_DOUBLE_EQ(number("0.9"), 0.9);
  for (const std::string text : {"many", "-1", "0.91", "nan", "1%"}) {
    EXPECT_THAT([&] { number(text); },
                ThrowsMessage<UsageError>("--max_size=" + text + ": not a number from 0 to 0.9"));
  }
}

TEST(Arguments, TakeAShareBelowOneOnly) {
  const auto share = [](const std::string& text) {
    return parse({"--min-effect=" + text}).share("min-effect");
  };
  EXPECT_DOUBLE_EQ(share("0"), 0);
  EXPECT_DOUBLE_EQ(share("0.01"), share("1%"));
  EXPECT_DOUBLE_EQ(share("99.5%"), 0.995);
  for (const std::string text : {"1", "5", "100%", "-1%", "1%%", "nan"}) {
    EXPECT_THAT(
        [&] { share(text); },
        ThrowsMessage<UsageError>("--min-effect=" + text +
                                  ": not a fraction from 0 to below 100 %, such as 1% or 0.01"));
  }
}

TEST(PrintOptions, ShowsSpellingsMeaningsAndDefaults) {
  std::ostringstream out;
  print_options(out, std::span(kOptions).first(2));
  EXPECT_EQ(out.str(),
            "  --format=FORM  how (text, json, csv); default text\n"
            "  -n, --runs=N   how many; default 8\n");
}

TEST(Arguments, AnOptionOutsideTheTableIsAnInternalError) {
  EXPECT_THROW(static_cast<void>(parse({}).has("typo")), InternalError);
}

}  // namespace
}  // namespace bench
