#include "models/zoo/fingerprint.h"

#include <algorithm>
#include <array>

namespace bench {
namespace {

struct Row {
  std::string_view name;
  std::string_view dataset;
  Fingerprint fingerprint;
};

constexpr std::array kRows{
#define BENCH_FINGERPRINT(name, dataset, loss, gradient, first_gradient, mean_weight, logits) \
  Row{name, dataset, {loss, gradient, first_gradient, mean_weight, logits}},
#include "models/zoo/fingerprints.inc"
#undef BENCH_FINGERPRINT
};

}  // namespace

const Fingerprint* stored_fingerprint(const Model& model) {
  const auto* const found = std::find_if(kRows.begin(), kRows.end(), [&](const Row& row) {
    return row.name == model.name && row.dataset == model.dataset;
  });
  return found == kRows.end() ? nullptr : &found->fingerprint;
}

}  // namespace bench
