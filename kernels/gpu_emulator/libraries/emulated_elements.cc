#include "kernels/gpu_emulator/libraries/emulated_elements.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "models/base/errors.h"
#include "models/base/half.h"

namespace bench::cuda {
namespace {

template <class T>
T load(const void* from, std::int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(from) + index * std::int64_t{sizeof(T)},
              sizeof(T));
  return value;
}

template <class T>
void store(void* to, std::size_t index, T value) {
  std::memcpy(static_cast<std::byte*>(to) + index * sizeof(T), &value, sizeof(T));
}

}  // namespace

std::vector<double> read_elements(const void* from, DType dtype, std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    double& value = values[static_cast<std::size_t>(i)];
    switch (dtype) {
      case DType::f32:
        value = load<float>(from, i);
        break;
      case DType::f16:
        value = widen(load<Float16>(from, i));
        break;
      case DType::bf16:
        value = widen(load<Bfloat16>(from, i));
        break;
      default:
        throw InternalError(fmt::format("emulated: unsupported element type {}", name_of(dtype)));
    }
  }
  return values;
}

void write_elements(std::span<const float> values, DType dtype, void* to) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    switch (dtype) {
      case DType::f32:
        store(to, i, values[i]);
        break;
      case DType::f16:
        store(to, i, narrow_to_float16(values[i]));
        break;
      case DType::bf16:
        store(to, i, narrow_to_bfloat16(values[i]));
        break;
      default:
        throw InternalError(fmt::format("emulated: unsupported element type {}", name_of(dtype)));
    }
  }
}

std::vector<double> read_tensor(const void* from, DType dtype,
                                const std::array<std::int64_t, 4>& extents, Order order) {
  const auto [batch, channels, height, width] = extents;
  const std::int64_t spatial = height * width;
  std::vector<double> values = read_elements(from, dtype, batch * channels * spatial);
  if (order == Order::nchw) {
    return values;
  }
  std::vector<double> result(values.size());
  for (std::int64_t n = 0; n < batch; ++n) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t i = 0; i < spatial; ++i) {
        result[static_cast<std::size_t>((n * channels + c) * spatial + i)] =
            values[static_cast<std::size_t>((n * spatial + i) * channels + c)];
      }
    }
  }
  return result;
}

std::size_t EmulatedWorkspace::bytes(std::int64_t count) {
  return static_cast<std::size_t>(count) * sizeof(float);
}

EmulatedWorkspace::EmulatedWorkspace(void* memory, std::int64_t count)
    : sums_(static_cast<float*>(memory), static_cast<std::size_t>(count)) {
  check(memory != nullptr, "emulated: a library call needs a workspace");
  std::ranges::fill(sums_, std::numeric_limits<float>::quiet_NaN());
}

}  // namespace bench::cuda
