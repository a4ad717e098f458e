#pragma once

#include <chrono>
#include <iosfwd>
#include <span>
#include <string_view>

namespace bench {

/// The time of a tower's steps by part, on the clock that times the steps. The five parts add up to
/// the steps' time.
struct StepTimes {
  /// Waiting for the towers' batch, and giving the device its part of it.
  std::chrono::nanoseconds input{};
  /// Forward and backward, including gradients that were added concurrently.
  std::chrono::nanoseconds computing{};
  /// The time that communication adds to the step. It includes waiting for the others' gradients,
  /// adding them after the backward pass, and waiting for slower towers at the step's end.
  std::chrono::nanoseconds exposed_communication{};
  std::chrono::nanoseconds updating{};
  /// The loop itself: waking the towers' threads and processing their results.
  std::chrono::nanoseconds host{};
  /// The part of exposed_communication at the step's end.
  std::chrono::nanoseconds waiting{};
  [[nodiscard]] std::chrono::nanoseconds total() const {
    return input + computing + exposed_communication + updating + host;
  }
  StepTimes& operator+=(const StepTimes& other);
};

/// The reason for missing parts if the host does not wait for each part of the device's work.
inline constexpr std::string_view kNotTimedByPart =
    "the host does not wait for each part of the device's work, so it cannot time the parts";

/// Prints one line per tower, with the parts as fractions of the steps' whole time.
void print_shares(std::ostream& out, std::span<const StepTimes> towers,
                  std::chrono::nanoseconds steps);

/// Points in time during a tower's part of a step, by the clock.
struct TowerLaps {
  std::chrono::nanoseconds begun{};
  std::chrono::nanoseconds fed{};
  std::chrono::nanoseconds done{};
};
/// Points in time during a step, by the clock.
struct StepLaps {
  std::chrono::nanoseconds begun{};
  /// The time at which the batch is available.
  std::chrono::nanoseconds input{};
  /// The time in which the processes agree on the outcome, so that each waits for the slowest.
  std::chrono::nanoseconds agreeing{};
  std::chrono::nanoseconds done{};
};

/// The time of a tower's part of a step. `last`: when the slowest tower was done; `computed`: when
/// this tower's network was; `exchanged`: the time spent on exchanging gradients.
StepTimes times_of(const StepLaps& step, const TowerLaps& tower, std::chrono::nanoseconds last,
                   std::chrono::nanoseconds computed, std::chrono::nanoseconds exchanged);

}  // namespace bench
