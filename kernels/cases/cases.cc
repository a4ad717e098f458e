#include "kernels/cases/cases.h"

namespace bench {

#define BENCH_OP(object, name) std::vector<KernelCase> name##_cases();
#define BENCH_COMPANION_OP(object, name)
#include "models/ops/ops.inc"

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> all;
  for (const auto& cases : {
#define BENCH_OP(object, name) name##_cases(),
#define BENCH_COMPANION_OP(object, name)
#include "models/ops/ops.inc"
       }) {
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

}  // namespace bench
