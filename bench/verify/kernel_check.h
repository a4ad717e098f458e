#pragma once

#include <vector>

#include "bench/verify/fingerprint.h"
#include "bench/verify/plan_check.h"
#include "models/base/watch.h"
#include "models/zoo/zoo.h"

namespace bench {

/// The number of examples that a KernelCheck examines: two images, or one if the batch is odd. For
/// sequences it is the whole batch, because a recurrent layer's first axis is time.
std::int64_t checked_examples(const Model& model, std::int64_t batch);

/// Compares the kernels of a tower with the reference (PlanCheck) during a run on the fingerprint's
/// images. It takes as long as the reference needs for them.
class KernelCheck {
 public:
  /// `small` is the graph from which the tower was made, but for checked_examples(). The tower must
  /// outlive the check. `watch` is called for each kernel.
  KernelCheck(Tower& tower, const Graph& small, Watch watch = {});

  /// The observer of a run on an even batch of the fingerprint's images, without dropout and
  /// drop-path.
  Executor::Observer observer() { return observer(PlanCheck::Kernels::others); }
  /// Performs that run for any batch. Overwrites the variables. Waits.
  void run(const FingerprintStimulus& stimulus);
  /// Enables dropout and drop-path, if the network has them, and checks them. Call it after run().
  /// Waits.
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
