#pragma once

#include <cstdint>

#include "kernels/cuda/device/device_api.h"
#include "models/base/errors.h"

namespace bench::cuda {

/// Divides by a number known at launch, with a multiplication. Granlund and Montgomery, "Division
/// by invariant integers using multiplication" (PLDI 1994). Created on the host.
class Divisor {
 public:
  /// The upper bound, exclusive, of the divisor and of `quotient`'s argument.
  static constexpr std::int64_t kLimit = std::int64_t{1} << 31;

  Divisor() = default;
  /// Throws InternalError unless 0 < divisor < kLimit.
  explicit Divisor(std::int64_t divisor) : divisor_(static_cast<std::uint32_t>(divisor)) {
    check(divisor > 0 && divisor < kLimit, fmt::format("cuda: extent {} is out of range", divisor));
    while ((std::int64_t{1} << shift_) < divisor) {
      ++shift_;
    }
    const std::uint64_t excess = (std::uint64_t{1} << shift_) - divisor_;
    multiplier_ = static_cast<std::uint32_t>((excess << 32U) / divisor_ + 1);
  }

  [[nodiscard]] __host__ __device__ std::uint32_t divisor() const { return divisor_; }
  [[nodiscard]] __device__ std::uint32_t quotient(std::uint32_t number) const {
    return (__umulhi(number, multiplier_) + number) >> shift_;
  }

  struct Split {
    std::int64_t quotient;
    std::uint32_t remainder;
  };
  /// Divides any non-negative number; slow from kLimit on.
  [[nodiscard]] __device__ Split split(std::int64_t number) const {
    const std::int64_t whole =
        number < kLimit ? quotient(static_cast<std::uint32_t>(number)) : number / divisor_;
    return {whole, static_cast<std::uint32_t>(number - whole * divisor_)};
  }

 private:
  std::uint32_t divisor_ = 1;
  std::uint32_t multiplier_ = 1;
  std::uint32_t shift_ = 0;
};

}  // namespace bench::cuda
