// Fibers: what they leave behind.

#include "kernels/gpu_emulator/fiber.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace bench::cuda::emulator {
namespace {

/// The page of the caller's frame.
[[gnu::noinline]] std::uintptr_t page_of_stack() {
  const auto page = static_cast<std::uintptr_t>(getpagesize());
  // NOLINTNEXTLINE(*-reinterpret-cast)
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) / page * page;
}

// AddressSanitizer reports the write if the stack's frames are still marked.
TEST(FiberTest, LeavesMemoryThatCanBeMappedAgain) {
  Fiber thread;
  std::uintptr_t place = 0;
  {
    Fiber fiber([&]() -> Fiber& {
      place = page_of_stack();
      return thread;
    });
    thread.switch_to(fiber);
  }
  const auto bytes = static_cast<std::size_t>(getpagesize());
  // NOLINTNEXTLINE(*-reinterpret-cast, performance-no-int-to-ptr)
  void* const memory = mmap(reinterpret_cast<void*>(place), bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED) << "the stack is still mapped";
  std::memset(memory, 1, bytes);
  munmap(memory, bytes);
}

}  // namespace
}  // namespace bench::cuda::emulator
