#pragma once

#include <vector>

#include "kernels/check/plan_check.h"
#include "models/base/watch.h"
#include "variable_mgmt/fingerprint.h"

namespace bench {

/// How many images of a batch of that size a KernelCheck looks at: two, or one where it is odd.
std::int64_t checked_images(std::int64_t batch);

/// Holds the kernels of a tower against the reference (PlanCheck) while it runs on the
/// fingerprint's images. It takes the reference's time for checked_images().
class KernelCheck {
 public:
  /// `small` is the graph that the tower was made from, for checked_images(). The tower must
  /// outlive the check. `watch` hears of each kernel.
  KernelCheck(Tower& tower, const Graph& small, Watch watch = {});

  /// For a run on the fingerprint's images, an even batch of them, without dropout and drop-path.
  Executor::Observer observer() { return observer(PlanCheck::Kernels::others); }
  /// That run itself, of any batch. Overwrites the variables; waits.
  void run(const FingerprintStimulus& stimulus);
  /// Lets dropout and drop-path work, if there are any, and looks at them; after the above. Waits.
  void run_what_draws();

  [[nodiscard]] const std::vector<CheckedKernel>& kernels() const { return plan_check_.kernels(); }

 private:
  Executor::Observer observer(PlanCheck::Kernels kernels);
  void run(std::int32_t step, const Executor::Observer& observer);

  Tower& tower_;
  std::int64_t images_;
  Graph small_;
  PlanCheck plan_check_;
  Watch watch_;
};

}  // namespace bench
