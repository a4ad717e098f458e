#include "variable_mgmt/fold_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/errors.h"

namespace bench {
namespace {

using testing::ElementsAre;
using testing::FloatEq;

constexpr double kEpsilon = 0.75;

InitialValues two_channels() {
  return {{"w", {1, 2, 3, 4}},     {"b", {10, 20}},   {"gamma", {2, 3}},
          {"beta", {0.5F, -0.5F}}, {"mean", {4, 18}}, {"variance", {0.25F, 3.25F}},
          {"other", {7}}};
}

TEST(FoldValues, ScaleTheWeightAndShiftTheBiasByTheFormula) {
  InitialValues values = two_channels();
  const FoldedBatchNorm fold{.weight = "w",
                             .old_bias = "b",
                             .gamma = "gamma",
                             .beta = "beta",
                             .mean = "mean",
                             .variance = "variance",
                             .epsilon = kEpsilon,
                             .bias = "w.folded_bias"};
  fold_values({&fold, 1}, values);
  // The scales are 2 / sqrt(1) and 3 / sqrt(4).
  EXPECT_EQ(values.size(), 3);
  EXPECT_THAT(values.at("w"), ElementsAre(2, 4, 4.5F, 6));
  EXPECT_THAT(values.at("w.folded_bias"), ElementsAre(FloatEq(12.5F), FloatEq(2.5F)));
  EXPECT_THAT(values.at("other"), ElementsAre(7));
}

TEST(FoldValues, TakeAMissingGammaForOneAndAMissingBiasForZero) {
  InitialValues values = two_channels();
  const FoldedBatchNorm fold{.weight = "w",
                             .beta = "beta",
                             .mean = "mean",
                             .variance = "variance",
                             .epsilon = kEpsilon,
                             .bias = "w.folded_bias"};
  fold_values({&fold, 1}, values);
  EXPECT_THAT(values.at("w"), ElementsAre(1, 2, 1.5F, 2));
  EXPECT_THAT(values.at("w.folded_bias"), ElementsAre(FloatEq(-3.5F), FloatEq(-9.5F)));
}

TEST(FoldValues, RefuseAVariableWithoutAValue) {
  InitialValues values = two_channels();
  const FoldedBatchNorm fold{
      .weight = "w", .beta = "beta", .mean = "missing", .variance = "variance", .bias = "w.b"};
  EXPECT_THROW(fold_values({&fold, 1}, values), InternalError);
}

}  // namespace
}  // namespace bench
