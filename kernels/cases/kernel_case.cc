#include "kernels/cases/kernel_case.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>

#include "models/base/errors.h"
#include "models/base/half.h"

namespace bench {
namespace {

double draw_one(const InputFill& fill, RandomStream& random) {
  switch (fill.kind) {
    case InputFill::Kind::normal:
      return fill.mean + fill.scale * random.normal();
    case InputFill::Kind::positive:
      return fill.mean + fill.scale * std::abs(random.normal());
    case InputFill::Kind::away_from_zero: {
      const double sign = random.below(2) == 0 ? -1 : 1;
      return sign * fill.scale * (0.125 + std::abs(random.normal()));
    }
    case InputFill::Kind::integers:
      return random.below(2 * static_cast<std::uint32_t>(fill.scale) + 1) - fill.scale;
    case InputFill::Kind::labels:
      return random.below(static_cast<std::uint32_t>(fill.scale));
    case InputFill::Kind::mostly_background: {
      constexpr std::uint32_t kOneOf = 5;
      return random.below(kOneOf) > 0
                 ? 0
                 : 1 + random.below(static_cast<std::uint32_t>(fill.scale) - 1);
    }
    case InputFill::Kind::constant:
    case InputFill::Kind::distinct:
      break;
  }
  return fill.mean;
}

std::vector<double> draw_distinct(const InputFill& fill, std::size_t count, RandomStream& random) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 0.0);
  shuffle(values, random);
  const double half = static_cast<double>(count) / 2;
  for (double& value : values) {
    value = static_cast<float>(fill.mean + fill.scale * (value - half) / half);
  }
  return values;
}

template <class T>
std::vector<std::byte> bytes_as(std::span<const double> values) {
  std::vector<T> typed(values.size());
  std::transform(values.begin(), values.end(), typed.begin(),
                 [](double x) { return static_cast<T>(x); });
  const auto bytes = std::as_bytes(std::span(typed));
  return {bytes.begin(), bytes.end()};
}

template <class Half>
std::vector<std::byte> bytes_as_halves(std::span<const double> values,
                                       Half (*narrow)(double value)) {
  std::vector<Half> typed(values.size());
  std::transform(values.begin(), values.end(), typed.begin(), narrow);
  const auto bytes = std::as_bytes(std::span(typed));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::vector<double> draw(const InputFill& fill, std::int64_t count, RandomStream& random) {
  const auto size = static_cast<std::size_t>(count);
  if (fill.kind == InputFill::Kind::distinct) {
    return draw_distinct(fill, size, random);
  }
  std::vector<double> values(size);
  for (double& value : values) {
    value = static_cast<float>(draw_one(fill, random));
  }
  return values;
}

std::vector<std::byte> to_bytes(DType dtype, std::span<const double> values) {
  switch (dtype) {
    case DType::f32:
      return bytes_as<float>(values);
    case DType::f64:
      return bytes_as<double>(values);
    case DType::s32:
      return bytes_as<std::int32_t>(values);
    case DType::u8:
      return bytes_as<std::uint8_t>(values);
    case DType::s8:
      return bytes_as<std::int8_t>(values);
    case DType::bf16:
      return bytes_as_halves(values, narrow_to_bfloat16);
    case DType::f16:
      return bytes_as_halves(values, narrow_to_float16);
  }
  throw InternalError("unknown element type");
}

std::ostream& operator<<(std::ostream& out, const KernelCase& kernel_case) {
  return out << kernel_case.name;
}

}  // namespace bench
