#include <gtest/gtest.h>

#include "kernels/optimizer.h"
#include "models/base/errors.h"

namespace bench {
namespace {

TEST(OptimizerRows, AreInTheOrderOfTheRules) {
  EXPECT_EQ(all_optimizers().size(), std::variant_size_v<OptimizerRule>);
  for (const OptimizerRow& row : all_optimizers()) {
    EXPECT_EQ(&row_of(row.rule), &row) << row.name;
  }
}

TEST(OptimizerRows, GiveSlotsTheirFirstValues) {
  EXPECT_TRUE(row_of(SgdRule{}).first_values.empty());
  EXPECT_EQ(row_of(MomentumRule{}).first_values, std::vector<double>({0}));
  EXPECT_EQ(row_of(RmspropRule{}).first_values, std::vector<double>({1, 0}));
  EXPECT_EQ(row_of(AdamRule{}).first_values, std::vector<double>({0, 0}));
  EXPECT_EQ(row_of(LarsRule{}).first_values, std::vector<double>({0}));
}

TEST(OptimizerRows, GiveTheBytesOfSlotsAndUpdates) {
  EXPECT_EQ(slot_bytes({.rule = SgdRule{}}, 10), 0U);
  EXPECT_EQ(slot_bytes({.rule = MomentumRule{}}, 10), 40U);
  EXPECT_EQ(slot_bytes({.rule = AdamRule{}}, 10), 80U);
  EXPECT_EQ(slot_bytes({.rule = AdamRule{}, .dtype = DType::f64}, 10), 160U);
  EXPECT_EQ(update_bytes({.rule = SgdRule{}}, 10), 120U);
  EXPECT_EQ(update_bytes({.rule = MomentumRule{}}, 10), 200U);
  EXPECT_EQ(update_bytes({.rule = RmspropRule{}}, 10), 280U);
  EXPECT_EQ(update_bytes({.rule = LarsRule{}}, 10), 280U);
  EXPECT_EQ(update_bytes({.rule = AdamRule{}, .dtype = DType::f64}, 10), 560U);
}

TEST(OptimizerRows, RefuseAnotherNumberOfSlots) {
  EXPECT_NO_THROW(check_slots(AdamRule{}, 2));
  EXPECT_THROW(check_slots(AdamRule{}, 1), InternalError);
  EXPECT_THROW(check_slots(SgdRule{}, 1), InternalError);
}

}  // namespace
}  // namespace bench
