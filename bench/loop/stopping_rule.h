#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "bench/plan/settings.h"
#include "results/environment/clock.h"

namespace bench {

/// Why steps end.
enum class Stop : std::uint8_t {
  none,         ///< They continue.
  complete,     ///< All requested steps are complete.
  enough,       ///< Enough steps are complete, but not all.
  out_of_time,  ///< The time of the run is over before all steps are complete.
  interrupted,  ///< The user, or another source that is queried after each step, ends the run.
};

/// The requested length of a run.
struct StepLimits {
  std::int64_t warmup_steps = 0;
  /// At least one.
  std::int64_t steps = 1;
  /// The time limit of the whole run, which ends with the step that reaches it. Warm-up takes at
  /// most a quarter of it, but at least two steps.
  std::optional<std::chrono::nanoseconds> time = {};
  /// A number of measured steps and their total time.
  struct Enough {
    std::int64_t steps = 0;
    std::chrono::nanoseconds time{};
  };
  /// If set, the run may end once it has reached both.
  std::optional<Enough> enough = {};
};

/// The requested length of a run.
StepLimits step_limits(const Execution& execution);

/// Decides when warm-up and measuring end; queried after each step.
class StoppingRule {
 public:
  /// `interrupted` returns true if the run is to end; `clock` must outlive this.
  StoppingRule(const StepLimits& limits, const Clock& clock, std::function<bool()> interrupted);

  [[nodiscard]] const StepLimits& limits() const { return limits_; }
  /// Starts the run and its time.
  void begin() { begun_ = clock_.now(); }
  /// Call it at the end of warm-up. The time for `enough` starts here.
  void begin_measuring() { measuring_since_ = clock_.now(); }

  /// True if the run is to end, whatever is complete.
  [[nodiscard]] bool interrupted() const { return interrupted_(); }
  /// Returns why warm-up ends after `done` of its steps (0: before the first step): interrupted, or
  /// complete, so that measuring may begin.
  [[nodiscard]] Stop after_warmup_steps(std::int64_t done) const;
  /// Returns why the run ends after `done` measured steps. If there are several reasons, returns
  /// the first of complete, out_of_time, interrupted, enough.
  [[nodiscard]] Stop after_steps(std::int64_t done) const;
  /// True if the time of the run is over.
  [[nodiscard]] bool out_of_time() const;

 private:
  StepLimits limits_;
  const Clock& clock_;
  std::function<bool()> interrupted_;
  std::chrono::nanoseconds begun_{};
  std::chrono::nanoseconds measuring_since_{};
};

}  // namespace bench
