#pragma once

#include <cstdint>
#include <numeric>

namespace bench::cuda::emulator {

/// The output function of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators, 2014).
constexpr std::uint64_t mixed(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9U;
  value = (value ^ value >> 27) * 0x94D049BB133111EBU;
  return value ^ value >> 31;
}

/// Pseudorandom numbers that choose a schedule: fast, and the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mixed(seed)) {}
  /// A number in 0..bound-1; `bound` is below 2^32 and not 0.
  std::uint64_t below(std::uint64_t bound) {
    state_ += 0x9E3779B97F4A7C15U;
    return (mixed(state_) >> 32) * bound >> 32;
  }

 private:
  std::uint64_t state_;
};

/// A permutation of 0..count-1 that needs no memory; ascending for seeds below 2.
class Permutation {
 public:
  Permutation(std::uint64_t count, std::uint64_t seed) : count_(count) {
    if (seed > 1) {
      Random draw(seed);
      const std::uint64_t bound = count < (std::uint64_t{1} << 31) ? count : std::uint64_t{1} << 31;
      first_ = draw.below(bound);
      do {
        step_ = 1 + draw.below(bound);
      } while (std::gcd(step_, count) != 1);
    }
  }
  std::uint64_t operator()(std::uint64_t turn) const {
    // Grids have fewer than 2^63 blocks, and a run of even 2^32 blocks would take too long.
    return (first_ + turn % count_ * step_) % count_;
  }

 private:
  std::uint64_t count_;
  std::uint64_t first_ = 0;
  std::uint64_t step_ = 1;
};

}  // namespace bench::cuda::emulator
