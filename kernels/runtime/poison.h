#pragma once

#include <cstddef>

#include "kernels/runtime/bound_plan.h"

namespace bench {

/// For tests: fills what no run may read before it wrote it with NaN bytes, and finds out whether a
/// run wrote behind a variable or a gradient.
class Poison {
 public:
  /// What the plan has to leave free behind every buffer.
  static constexpr std::size_t kGuardBytes = 64;

  /// Both outlive this.
  Poison(const Plan& plan, const BoundPlan& bound) : plan_(plan), bound_(bound) {}
  /// Enqueues it.
  void spread(Stream& stream) const;
  /// Throws InternalError where a guard was written over; waits.
  void check_guards(Stream& stream) const;

 private:
  template <class F>
  void for_each_guard(const F& f) const;

  const Plan& plan_;
  const BoundPlan& bound_;
};

}  // namespace bench
