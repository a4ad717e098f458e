#include "bench/verify/kernel_check.h"

#include <algorithm>

namespace bench {
namespace {

/// Late enough that drop-path has reached its full strength.
constexpr std::int32_t kLateStep = 1 << 30;
constexpr std::int32_t kNothingDropped = -1;

}  // namespace

std::int64_t checked_examples(const Model& model, std::int64_t batch) {
  return !model.reads_images() ? batch : batch % 2 == 0 ? 2 : 1;
}

KernelCheck::KernelCheck(Tower& tower, const Graph& small, Watch watch)
    : tower_(tower),
      images_(examples_of(small)),
      small_(runnable(small, tower.backend())),
      plan_check_(tower.executor(), tower.backend(), small_, images_, tower.examples()),
      watch_(std::move(watch)) {}

Executor::Observer KernelCheck::observer(PlanCheck::Kernels kernels) {
  Executor::Observer seen = plan_check_.observer(kernels);
  const auto all =
      static_cast<std::int64_t>(std::min(seen.steps, tower_.executor().plan().steps.size()));
  seen.after = [this, after = seen.after, all,
                done = std::int64_t{0}](const Executor::ObservedStep& step) mutable {
    after(step);
    tell(watch_, ++done, all);
  };
  return seen;
}

void KernelCheck::run(const FingerprintStimulus& stimulus) {
  tower_.write_variables(stimulus.values);
  tower_.set_loss_scale(stimulus.loss_scale);
  run(kNothingDropped, observer());
}

void KernelCheck::run_what_draws() {
  if (tower_.find_input("step") != nullptr) {
    run(kLateStep, observer(PlanCheck::Kernels::that_draw));
  }
}

void KernelCheck::run(std::int32_t step, const Executor::Observer& observer) {
  const FingerprintBatch batch = fingerprint_batch(tower_, 0, static_cast<std::size_t>(images_));
  batch.write_numbers(tower_);
  tower_.run_observed(batch.images, {}, step, observer);
}

}  // namespace bench
