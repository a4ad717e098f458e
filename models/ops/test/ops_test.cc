#include "models/ops/ops.h"

#include <gtest/gtest.h>

#include <set>

namespace bench {
namespace {

TEST(OpRows, HaveTheNamesOfTheirOps) {
#define BENCH_OP(object, row_name) EXPECT_EQ((object).name, #row_name);
#include "models/ops/ops.inc"
}

TEST(OpRows, AreOnePerOp) {
  const auto ops = all_ops();
  EXPECT_EQ(std::set<const OpDef*>(ops.begin(), ops.end()).size(), ops.size());
}

TEST(Ops, HavePartsWhereTheyFuse) {
  for (const OpDef* op : all_ops()) {
    EXPECT_TRUE(op->infer != nullptr) << op->name;
    EXPECT_EQ(op->fused == nullptr, op->decompose == nullptr) << op->name;
    EXPECT_FALSE(op->epilogue != nullptr && op->fused == nullptr) << op->name;
  }
}

}  // namespace
}  // namespace bench
