#pragma once

#include <chrono>
#include <iosfwd>
#include <span>
#include <string_view>

namespace bench {

/// Where the time of a tower's steps went, by the clock that times the steps: the five parts add up
/// to them.
struct TowerShare {
  /// Until the towers' batch was there, and giving the device its part of it.
  std::chrono::nanoseconds input{};
  /// Forward and backward, with what was added of the gradients meanwhile.
  std::chrono::nanoseconds computing{};
  /// What communication adds to the step: waiting for the others' gradients and adding them behind
  /// the backward pass, and at the step's end for the towers that were slower.
  std::chrono::nanoseconds exposed_communication{};
  std::chrono::nanoseconds updating{};
  /// The loop itself: waking the towers' threads, and what it makes of their results.
  std::chrono::nanoseconds host{};
  /// Of exposed_communication: at the step's end.
  std::chrono::nanoseconds waiting{};
  [[nodiscard]] std::chrono::nanoseconds total() const {
    return input + computing + exposed_communication + updating + host;
  }
  TowerShare& operator+=(const TowerShare& other);
};

/// Why there are none of a device that the host does not wait for part by part.
inline constexpr std::string_view kNotTimedByPart =
    "the device computes while the host goes on, whose clock sees no parts of its work";

/// One line per tower: the parts as shares of the steps' whole time.
void print_shares(std::ostream& out, std::span<const TowerShare> towers,
                  std::chrono::nanoseconds steps);

}  // namespace bench
