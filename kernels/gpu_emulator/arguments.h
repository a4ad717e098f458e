#pragma once

#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>

namespace bench::cuda::emulator {

/// Throws InternalError unless the address is null or in memory that the runtime allocated and that
/// is not freed.
void check_pointer(const char* kernel, std::size_t argument, const void* address);
/// The same for bytes of a struct that look like an address.
void check_struct(const char* kernel, std::size_t argument, std::span<const std::byte> bytes);

template <class T>
void check_argument(const char* kernel, std::size_t argument, const T& value) {
  if constexpr (std::is_pointer_v<T>) {
    check_pointer(kernel, argument, value);
  } else if constexpr (std::is_class_v<T>) {
    check_struct(kernel, argument, std::as_bytes(std::span(&value, 1)));
  }
}

/// Checks the arguments of a kernel launch: a GPU cannot read what the host allocated.
template <class... Arguments>
void check_arguments(const char* kernel, const std::tuple<Arguments...>& arguments) {
  std::apply(
      [&](const auto&... argument) {
        std::size_t number = 0;
        (check_argument(kernel, ++number, argument), ...);
      },
      arguments);
}

}  // namespace bench::cuda::emulator
