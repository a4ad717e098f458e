#include "bench/flags/batch_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/flags/test/usage_error.h"

namespace bench {
namespace {

using Rule = BatchRequest::Rule;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string refused(const std::string& text) {
  return usage_error([&] { read_batch_request(text); });
}

TEST(BatchRequest, IsADefaultANumberAListOrASearch) {
  EXPECT_EQ(read_batch_request("0").rule, Rule::model);
  EXPECT_THAT(read_batch_request("0").sizes, IsEmpty());
  EXPECT_EQ(read_batch_request("32").rule, Rule::given);
  EXPECT_THAT(read_batch_request("032").sizes, ElementsAre(32));
  EXPECT_EQ(read_batch_request("auto").rule, Rule::fastest);
  EXPECT_EQ(read_batch_request("max").rule, Rule::largest);
  EXPECT_EQ(read_batch_request("16,8,1073741824").rule, Rule::list);
  EXPECT_THAT(read_batch_request("16,8,1073741824").sizes, ElementsAre(16, 8, 1 << 30));
}

TEST(BatchRequest, IsKnownBeforeTheRunForANumberOnly) {
  EXPECT_TRUE(read_batch_request("0").fixed());
  EXPECT_TRUE(read_batch_request("8").fixed());
  EXPECT_FALSE(read_batch_request("8,16").fixed());
  EXPECT_FALSE(read_batch_request("auto").fixed());
  EXPECT_FALSE(read_batch_request("max").fixed());
}

TEST(BatchRequest, RefusesTextThatIsNotANumber) {
  EXPECT_EQ(refused("many"),
            "--batch_size=many: expected 0, a batch size from 1 to 1073741824, a list such as "
            "8,16,32, auto, or max");
  for (const char* text :
       {"", "-1", "+8", "8.0", "8x", " 8", "AUTO", "1073741825", "99999999999999999999"}) {
    EXPECT_THAT(refused(text), HasSubstr("expected 0, a batch size from 1")) << text;
  }
}

TEST(BatchRequest, RefusesBadItemsOfAListByName) {
  EXPECT_EQ(refused("8,x"),
            "--batch_size=8,x: 'x' is not a batch size; expected a list of whole numbers from 1 to "
            "1073741824");
  EXPECT_THAT(refused("0,8"), HasSubstr("'0' is not a batch size"));
  EXPECT_THAT(refused("8,-1"), HasSubstr("'-1' is not a batch size"));
  for (const char* text : {"8,,16", "8,", ",8", ","}) {
    EXPECT_THAT(refused(text),
                HasSubstr("the list has an empty item; expected whole numbers from 1 to"))
        << text;
  }
  EXPECT_EQ(refused("auto,8"), "--batch_size=auto,8: a list cannot contain auto");
  EXPECT_EQ(refused("8,max"), "--batch_size=8,max: a list cannot contain max");
  EXPECT_EQ(refused("8,16,08"), "--batch_size=8,16,08: 8 is listed more than once");
}

}  // namespace
}  // namespace bench
