#include "models/base/text.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::string_view_literals;

TEST(EqualInAnyCase, ComparesLettersAndLengths) {
  EXPECT_TRUE(equal_in_any_case("ResNet50_v1.5", "resnet50_v1.5"));
  EXPECT_TRUE(equal_in_any_case("", ""));
  EXPECT_FALSE(equal_in_any_case("resnet50", "resnet5"));
  EXPECT_FALSE(equal_in_any_case("resnet-50", "resnet_50"));
}

TEST(Printable, LeavesTextAlone) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("--model=lenet ~ \\ 'x'"), "--model=lenet ~ \\ 'x'");
  EXPECT_EQ(printable("größe 図 😀 ¿"), "größe 図 😀 ¿");
}

TEST(Printable, EscapesControlCharacters) {
  EXPECT_EQ(printable("a\x1b[31mred\x07"), "a\\x1b[31mred\\x07");
  EXPECT_EQ(printable("one\ntwo\tthree\r"), "one\\ntwo\\tthree\\r");
  EXPECT_EQ(printable("nul\0del\x7f"sv), "nul\\x00del\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // C1's control sequence introducer
}

TEST(Printable, EscapesCharactersThatChangeTheDirectionOfText) {
  EXPECT_EQ(printable("a\u202egpj.exe"), "a\\xe2\\x80\\xaegpj.exe");
  EXPECT_EQ(printable("\u202a\u2069"), "\\xe2\\x80\\xaa\\xe2\\x81\\xa9");
  EXPECT_EQ(printable("\u200e\u061c"), "\\xe2\\x80\\x8e\\xd8\\x9c");
  EXPECT_EQ(printable("עברית \u200d \u2029 →"), "עברית \u200d \u2029 →");
}

TEST(Printable, EscapesInvalidUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                    // cut off
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");           // longer than needed
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

}  // namespace
}  // namespace bench
