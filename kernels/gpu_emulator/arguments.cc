#include "kernels/gpu_emulator/arguments.h"

#include <cstdint>
#include <cstring>

#include "kernels/gpu_emulator/machine.h"
#include "models/base/errors.h"

namespace bench::cuda::emulator {
namespace {

enum class Expected : std::uint8_t { an_address, perhaps_an_address };

void check_address(const char* kernel, std::size_t argument, const void* address,
                   Expected expected) {
  const auto fail = [&](const char* what) {
    throw InternalError(fmt::format("kernel {}: argument {} is {}", kernel, argument, what));
  };
  // A pointer to one past the last byte is valid: nothing is accessed there.
  const Machine& machine = Machine::get();
  const auto* const before = static_cast<const char*>(address) - 1;
  if (address == nullptr || machine.owner_of(address, 1) == Owner::device ||
      machine.owner_of(before, 1) == Owner::device) {
    return;
  }
  switch (machine.owner_of(address, 0)) {
    case Owner::pinned:
    case Owner::device:
      return;
    case Owner::nobody:
      // Padding may hold anything; an access to such an address is stopped anyway.
      if (expected == Expected::an_address) {
        fail("an address of memory that was freed or never allocated");
      }
      return;
    case Owner::host:
      // Padding may hold anything.
      if (expected == Expected::an_address) {
        fail("an address of host memory");
      }
      return;
  }
}

}  // namespace

void check_pointer(const char* kernel, std::size_t argument, const void* address) {
  check_address(kernel, argument, address, Expected::an_address);
}

void check_struct(const char* kernel, std::size_t argument, std::span<const std::byte> bytes) {
  for (std::size_t offset = 0; offset + sizeof(void*) <= bytes.size(); offset += sizeof(void*)) {
    const void* word = nullptr;
    std::memcpy(&word, bytes.data() + offset, sizeof word);
    check_address(kernel, argument, word, Expected::perhaps_an_address);
  }
}

}  // namespace bench::cuda::emulator
