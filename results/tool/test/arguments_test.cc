#include "results/tool/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "models/base/errors.h"

namespace bench::results {
namespace {

using ::testing::ElementsAre;
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
    Option{.name = "strict", .meaning = "a switch"},
    Option{.name = "output", .letter = 'o', .value = "FILE", .meaning = "where"},
};

Arguments parse(const std::vector<std::string>& words) { return {"compare", kOptions, words}; }

std::string refusal(const std::vector<std::string>& words) {
  try {
    parse(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "taken";
}

TEST(Arguments, TakesOptionsInEverySpelling) {
  const Arguments arguments =
      parse({"a", "--format=json", "-n", "4", "b", "--by", "x", "--by=y", "--strict", "-or.html"});
  EXPECT_THAT(arguments.operands(), ElementsAre("a", "b"));
  EXPECT_EQ(arguments.text("format"), "json");
  EXPECT_EQ(arguments.integer("runs"), 4);
  EXPECT_THAT(arguments.all("by"), ElementsAre("x", "y"));
  EXPECT_TRUE(arguments.has("strict"));
  EXPECT_EQ(arguments.text("output"), "r.html");
}

TEST(Arguments, FallBackToTheTable) {
  const Arguments arguments = parse({});
  EXPECT_EQ(arguments.text("format"), "text");
  EXPECT_FALSE(arguments.has("format"));
  EXPECT_EQ(arguments.integer("runs"), 8);
  EXPECT_FALSE(arguments.given("output"));
  EXPECT_DOUBLE_EQ(arguments.share("min-effect"), 0.01);
}

TEST(Arguments, TakeUnderscoresForDashes) {
  EXPECT_DOUBLE_EQ(parse({"--min_effect=0.02"}).share("min-effect"), 0.02);
}

TEST(Arguments, TakeWhatFollowsTwoDashesAsItIs) {
  EXPECT_THAT(parse({"--", "--format=json", "-"}).operands(), ElementsAre("--format=json", "-"));
}

TEST(Arguments, RefuseAnUnknownOptionWithThoseNearToIt) {
  EXPECT_EQ(refusal({"--formta=json"}),
            "--formta: compare has no such option; did you mean --format?");
  EXPECT_EQ(refusal({"--zzz"}),
            "--zzz: compare has no such option; bench_results compare --help lists all");
  EXPECT_EQ(refusal({"-z"}),
            "-z: compare has no such option; bench_results compare --help lists all");
}

TEST(Arguments, RefuseAValueThatIsNotAccepted) {
  EXPECT_EQ(refusal({"--format=jsno"}),
            "--format=jsno: unknown value; accepted: text, json, csv; did you mean json?");
  EXPECT_EQ(refusal({"--strict=yes"}), "--strict takes no value, but was given 'yes'");
  EXPECT_EQ(refusal({"--output"}), "--output needs a value: FILE");
  EXPECT_EQ(refusal({"-n1", "-n2"}), "-n was given twice: '1' and '2'");
}

TEST(Arguments, RefuseWhatIsNoNumber) {
  EXPECT_THROW(static_cast<void>(parse({"-n", "many"}).integer("runs")), UsageError);
  EXPECT_THROW(static_cast<void>(parse({"-n", "0"}).integer("runs", 1)), UsageError);
  EXPECT_THROW(static_cast<void>(parse({"--min-effect=1%%"}).share("min-effect")), UsageError);
}

TEST(Arguments, TakeAShareBelowOneOnly) {
  const auto share = [](const std::string& text) {
    return parse({"--min-effect=" + text}).share("min-effect");
  };
  EXPECT_DOUBLE_EQ(share("0"), 0);
  EXPECT_DOUBLE_EQ(share("0.01"), share("1%"));
  EXPECT_DOUBLE_EQ(share("99.5%"), 0.995);
  for (const std::string text : {"1", "5", "100%", "-1%", "nan"}) {
    EXPECT_THAT(
        [&] { share(text); },
        ThrowsMessage<UsageError>("--min-effect=" + text +
                                  ": not a fraction from 0 to below 100 %, such as 1% or 0.01"));
  }
}

TEST(Arguments, AnOptionThatTheTableLacksIsOurMistake) {
  EXPECT_THROW(static_cast<void>(parse({}).has("typo")), InternalError);
}

}  // namespace
}  // namespace bench::results
