#pragma once

#include <cstddef>

#include "kernels/runtime/bound_plan.h"

namespace bench {

/// For tests: fills all memory that a run must write before it reads with NaN bytes. Detects writes
/// after the end of a variable or a gradient.
class Poison {
 public:
  /// The bytes that the plan must leave free after every buffer.
  static constexpr std::size_t kGuardBytes = 64;

  /// Both arguments must outlive this object.
  Poison(const Plan& plan, const BoundPlan& bound) : plan_(plan), bound_(bound) {}
  /// Enqueues the fills.
  void spread(Stream& stream) const;
  /// Throws InternalError if a guard was overwritten; waits.
  void check_guards(Stream& stream) const;

 private:
  template <class F>
  void for_each_guard(const F& f) const;

  const Plan& plan_;
  const BoundPlan& bound_;
};

}  // namespace bench
