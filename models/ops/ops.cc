#include "models/ops/ops.h"

#include <array>

namespace bench {

std::span<const OpDef* const> all_ops() {
  static constexpr std::array kOps{
#define BENCH_OP(object, name) &object,
#include "models/ops/ops.inc"
  };
  return kOps;
}

}  // namespace bench
