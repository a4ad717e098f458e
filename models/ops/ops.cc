#include <array>

#include "models/ir/op.h"

namespace bench {

#define BENCH_OP(op) extern const OpDef op;
#include "models/ops/ops.inc"
#undef BENCH_OP

std::span<const OpDef* const> all_ops() {
  static constexpr std::array kOps{
#define BENCH_OP(op) &op,
#include "models/ops/ops.inc"
#undef BENCH_OP
  };
  return kOps;
}

}  // namespace bench
