#pragma once

#include <cstddef>
#include <cstdint>

#include "models/base/dtype.h"

namespace bench::cpu {

/// Bytes of `count` elements.
inline std::size_t bytes_of(std::int64_t count, DType dtype) {
  return static_cast<std::size_t>(count) * size_of(dtype);
}

/// The address of a tensor's element; null stays null.
inline const void* element(const void* tensor, DType dtype, std::int64_t index) {
  return tensor == nullptr ? nullptr
                           : static_cast<const std::byte*>(tensor) +
                                 index * static_cast<std::int64_t>(size_of(dtype));
}
inline void* element(void* tensor, DType dtype, std::int64_t index) {
  return const_cast<void*>(element(static_cast<const void*>(tensor), dtype, index));
}

}  // namespace bench::cpu
