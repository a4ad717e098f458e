#include "bench/loop/stopping_rule.h"

#include <algorithm>
#include <utility>

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr double kWarmupShare = 0.25;
constexpr std::int64_t kLeastWarmupSteps = 2;

}  // namespace

StepLimits step_limits(const Execution& execution) {
  StepLimits limits{.warmup_steps = execution.warmup.num_batches,
                    .steps = execution.steps.num_batches};
  if (execution.max_seconds) {
    constexpr double kLongestSeconds = 9e9;  // the limit of nanoseconds
    limits.time = std::chrono::nanoseconds(
        static_cast<std::int64_t>(std::min(*execution.max_seconds, kLongestSeconds) * 1e9));
  }
  return limits;
}

StoppingRule::StoppingRule(const StepLimits& limits, const Clock& clock,
                           std::function<bool()> interrupted)
    : limits_(limits), clock_(clock), interrupted_(std::move(interrupted)) {
  check(limits.steps >= 1 && limits.warmup_steps >= 0, "a run needs at least one step");
}

Stop StoppingRule::after_warmup_steps(std::int64_t done) const {
  if (done > 0 && interrupted_()) {
    return Stop::interrupted;
  }
  const bool over = limits_.time && done >= kLeastWarmupSteps &&
                    clock_.now() - begun_ > *limits_.time * kWarmupShare;
  return over || done >= limits_.warmup_steps ? Stop::complete : Stop::none;
}

bool StoppingRule::out_of_time() const {
  return limits_.time && clock_.now() - begun_ >= *limits_.time;
}

Stop StoppingRule::after_steps(std::int64_t done) const {
  if (done >= limits_.steps) {
    return Stop::complete;
  }
  if (out_of_time()) {
    return Stop::out_of_time;
  }
  if (interrupted_()) {
    return Stop::interrupted;
  }
  const bool enough = limits_.enough && done >= limits_.enough->steps &&
                      clock_.now() - measuring_since_ >= limits_.enough->time;
  return enough ? Stop::enough : Stop::none;
}

}  // namespace bench
