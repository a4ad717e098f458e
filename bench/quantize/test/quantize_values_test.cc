#include "bench/quantize/quantize_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/errors.h"

namespace bench {
namespace {

using testing::ElementsAre;

TEST(QuantizeValues, EachChannelFillsTheRangeOfItsType) {
  // The scales are 1, 2 and 1. The last channel is all zeros, so any scale would do.
  InitialValues values{{"w", {127, -12.5F, 3.4F, 254, -254, 5.1F, 0, 0, 0}}, {"other", {7}}};
  const QuantizedWeight weight{.weight = "w", .scales = "w.scales", .channels = 3};
  quantize_values({&weight, 1}, values);
  EXPECT_THAT(values.at("w"), ElementsAre(127, -12, 3, 127, -127, 3, 0, 0, 0));
  EXPECT_THAT(values.at("w.scales"), ElementsAre(1, 2, 1));
  EXPECT_THAT(values.at("other"), ElementsAre(7));
}

TEST(QuantizeValues, RefuseAWeightWithoutAValue) {
  InitialValues values;
  const QuantizedWeight weight{.weight = "w", .scales = "w.scales", .channels = 3};
  EXPECT_THROW(quantize_values({&weight, 1}, values), InternalError);
}

}  // namespace
}  // namespace bench
