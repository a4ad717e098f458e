#include "models/ir/attributes.h"

#include <gtest/gtest.h>

#include "models/ops/activation.h"
#include "models/ops/conv2d.h"

namespace bench {
namespace {

TEST(Attributes, CompareByTypeAndValue) {
  const Attributes stride2(Conv2dAttributes{.window = {.stride = {2, 2}}});
  EXPECT_EQ(stride2, Attributes(Conv2dAttributes{.window = {.stride = {2, 2}}}));
  EXPECT_FALSE(stride2 == Attributes(Conv2dAttributes{}));
  EXPECT_FALSE(stride2 == Attributes(ActivationAttributes{}));
  EXPECT_FALSE(stride2 == Attributes());
  EXPECT_EQ(Attributes(), Attributes());
}

TEST(Attributes, GiveBackTheirStructAndNoOther) {
  const Attributes attributes(ActivationAttributes{.kind = ActivationKind::none});
  EXPECT_EQ(attributes.as<ActivationAttributes>().kind, ActivationKind::none);
  EXPECT_THROW((void)attributes.as<Conv2dAttributes>(), InternalError);
  EXPECT_THROW((void)Attributes().as<Conv2dAttributes>(), InternalError);
}

TEST(Attributes, PrintTheirStruct) {
  EXPECT_EQ(testing::PrintToString(
                Attributes(Conv2dAttributes{.window = {.kernel = {3, 3}, .stride = {2, 2}}})),
            "3x3/2");
  EXPECT_EQ(testing::PrintToString(Attributes()), "");
}

}  // namespace
}  // namespace bench
