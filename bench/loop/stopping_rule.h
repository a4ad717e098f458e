#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "bench/host/clock.h"

namespace bench {

/// Why steps end.
enum class Stop : std::uint8_t {
  none,         ///< They go on.
  complete,     ///< All that were asked for are done.
  enough,       ///< What is enough is done, before all.
  out_of_time,  ///< The run's time is over, before all are done.
  interrupted,  ///< The user, or whoever else is asked after each step, ends the run.
};

/// How long a run is to be.
struct StepLimits {
  std::int64_t warmup_steps = 0;
  /// At least one.
  std::int64_t steps = 1;
  /// Of the whole run, which ends with the step in which it is over; warm-up takes a quarter of it
  /// at most, but two steps at least.
  std::optional<std::chrono::nanoseconds> time = {};
  /// Measured steps and the time they take together.
  struct Enough {
    std::int64_t steps = 0;
    std::chrono::nanoseconds time{};
  };
  /// Set where a run need not be longer than this; both have to be reached.
  std::optional<Enough> enough = {};
};

/// Says when warm-up and measuring end; asked after each step.
class StoppingRule {
 public:
  /// `interrupted` says whether the run is to end; `clock` must outlive this.
  StoppingRule(const StepLimits& limits, const Clock& clock, std::function<bool()> interrupted);

  [[nodiscard]] const StepLimits& limits() const { return limits_; }
  /// The run begins, and its time.
  void begin() { begun_ = clock_.now(); }
  /// Warm-up is over: what is enough counts from here.
  void begin_measuring() { measuring_since_ = clock_.now(); }

  /// Whether the run is to end, whatever was done.
  [[nodiscard]] bool interrupted() const { return interrupted_(); }
  /// Whether warm-up ends after so many of its steps (0: before the first): interrupted, or
  /// complete, which means that measuring may begin.
  [[nodiscard]] Stop after_warmup_steps(std::int64_t done) const;
  /// Whether the run ends after so many measured steps. Of several reasons the first in the order
  /// complete, out_of_time, interrupted, enough.
  [[nodiscard]] Stop after_steps(std::int64_t done) const;

 private:
  StepLimits limits_;
  const Clock& clock_;
  std::function<bool()> interrupted_;
  std::chrono::nanoseconds begun_{};
  std::chrono::nanoseconds measuring_since_{};
};

}  // namespace bench
