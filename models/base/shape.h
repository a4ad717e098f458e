#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>

namespace bench {

/// Logical extents, outermost first: (N, C, H, W) for activations, (O, I, H, W) for filters. Rank 0
/// is a scalar. A shape does not describe memory.
class Shape {
 public:
  static constexpr std::size_t kMaxRank = 5;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents);
  explicit Shape(std::span<const std::int64_t> extents);

  [[nodiscard]] std::size_t rank() const { return rank_; }
  /// Extent of an axis; throws InternalError if the axis does not exist.
  [[nodiscard]] std::int64_t operator[](std::size_t axis) const;
  /// The same shape with a different extent along one axis.
  [[nodiscard]] Shape with(std::size_t axis, std::int64_t extent) const;
  [[nodiscard]] std::int64_t elements() const;
  [[nodiscard]] std::span<const std::int64_t> extents() const { return {extents_.data(), rank_}; }

  bool operator==(const Shape&) const = default;

 private:
  std::array<std::int64_t, kMaxRank> extents_{};
  std::size_t rank_ = 0;
};

/// Returns for example `32x64x56x56`; for a scalar `scalar`.
std::string to_string(const Shape& shape);
std::ostream& operator<<(std::ostream& out, const Shape& shape);

}  // namespace bench
