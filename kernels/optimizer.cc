#include "kernels/optimizer.h"

#include "models/base/errors.h"

namespace bench {

std::span<const OptimizerRow> all_optimizers() {
  static const std::vector<OptimizerRow> kRows{
#define BENCH_OPTIMIZER(Rule, label, ...) \
  {.name = label, .rule = Rule{}, .first_values = {__VA_ARGS__}},
#include "kernels/optimizers.inc"
#undef BENCH_OPTIMIZER
  };
  return kRows;
}

const OptimizerRow& row_of(const OptimizerRule& rule) { return all_optimizers()[rule.index()]; }

void check_slots(const OptimizerRule& rule, std::size_t slots) {
  const OptimizerRow& row = row_of(rule);
  if (slots != row.slots()) {
    throw InternalError(
        fmt::format("optimizer: {} has {} slots, not {}", row.name, row.slots(), slots));
  }
}

std::size_t slot_bytes(const OptimizerSettings& settings, std::size_t elements) {
  return row_of(settings.rule).slots() * elements * size_of(settings.dtype);
}

std::size_t update_bytes(const OptimizerSettings& settings, std::size_t elements) {
  // Variables and slots are read and written, gradients read.
  std::size_t passes = 3 + 2 * row_of(settings.rule).slots();
  if (std::holds_alternative<LarsRule>(settings.rule)) {
    passes += 2;  // For the norms of variables and gradients.
  }
  return passes * elements * size_of(settings.dtype);
}

}  // namespace bench
