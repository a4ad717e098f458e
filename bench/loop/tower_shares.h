#pragma once

#include <chrono>
#include <iosfwd>
#include <span>

namespace bench {

/// Where the time of a tower's steps went. The parts add up to the steps, but for what the loop
/// does between its towers' parts of a step.
struct TowerShare {
  /// Giving the device its batch; not what all towers waited for input.
  std::chrono::nanoseconds feeding{};
  /// Forward and backward, with what was added of the gradients meanwhile.
  std::chrono::nanoseconds computing{};
  /// Waiting for the others' gradients and adding them, behind the backward pass.
  std::chrono::nanoseconds exchanging{};
  std::chrono::nanoseconds updating{};
  /// At the step's end, for the towers that were slower.
  std::chrono::nanoseconds waiting{};
  [[nodiscard]] std::chrono::nanoseconds total() const {
    return feeding + computing + exchanging + updating + waiting;
  }
  TowerShare& operator+=(const TowerShare& other);
};

/// One line per tower: the parts as shares of the steps' whole time.
void print_shares(std::ostream& out, std::span<const TowerShare> towers,
                  std::chrono::nanoseconds steps);

}  // namespace bench
