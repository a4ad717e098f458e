#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>

#include "bench/plan/settings.h"
#include "variable_mgmt/towers/towers.h"

namespace bench {

/// The loss, or a logit, is not finite.
class LossError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws LossError if the loss of a step, counted from 0, is not finite.
void check_loss(double loss, std::int64_t step, const Workload& workload);

/// Throws LossError if a logit of the last step is not finite. For forward-only runs, which have no
/// loss. If the step consists of several runs of the network, calls compute(tower, run) for each.
void check_logits(Towers& towers, const Workload& workload, std::int64_t runs = 1,
                  const std::function<void(int tower, std::int64_t run)>& compute = {});

}  // namespace bench
