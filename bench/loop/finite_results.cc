#include "bench/loop/finite_results.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "models/base/errors.h"

namespace bench {

void check_loss(double loss, std::int64_t step, const Workload& workload) {
  if (std::isfinite(loss)) {
    return;
  }
  const double decay = workload.optimizer.weight_decay;
  if (step == 0 && decay > 1) {
    throw LossError(fmt::format(
        "the loss is {:g} in the first step, before any update: try a lower --weight_decay, "
        "which is {:g}",
        loss, decay));
  }
  throw LossError(
      step == 0
          ? fmt::format("the loss is {:g} in the first step, before any update: the variables or "
                        "the input exceeds the range of {}",
                        loss, name_of(workload.dtype))
          : fmt::format("the loss is {:g} after {} steps: try a lower learning rate "
                        "(--init_learning_rate)",
                        loss, step + 1));
}

void check_logits(Towers& towers, const Workload& workload, std::int64_t runs,
                  const std::function<void(int tower, std::int64_t run)>& compute) {
  std::atomic<bool> finite = true;
  towers.run([&](int tower) {
    for (std::int64_t run = 0; run < runs; ++run) {
      if (runs > 1) {
        compute(tower, run);
      }
      const std::vector<float> logits = towers[tower].executor().read_output_as_floats("logits");
      if (!std::all_of(logits.begin(), logits.end(), [](float x) { return std::isfinite(x); })) {
        finite = false;
      }
    }
  });
  if (!finite) {
    throw LossError(
        fmt::format("the logits of the last step are not all finite: the variables or the input "
                    "exceeds the range of {}",
                    workload.int8 ? "int8" : name_of(workload.dtype)));
  }
}

}  // namespace bench
