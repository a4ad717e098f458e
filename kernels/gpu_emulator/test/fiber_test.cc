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

/// Runs a fiber to its end and returns the page of its frames.
std::uintptr_t page_of_ended_fiber() {
  Fiber thread;
  std::uintptr_t page = 0;
  Fiber fiber([&]() -> Fiber& {
    page = page_of_stack();
    return thread;
  });
  thread.switch_to(fiber);
  return page;
}

// With AddressSanitizer, the write fails if the frames are still marked. Fibers begin at different
// places of a page in turn.
TEST(FiberTest, LeavesMemoryThatCanBeMappedAgain) {
  constexpr int kFibers = 32;
  const auto bytes = static_cast<std::size_t>(getpagesize());
  for (int i = 0; i < kFibers; ++i) {
    // NOLINTNEXTLINE(*-reinterpret-cast, performance-no-int-to-ptr)
    auto* const page = reinterpret_cast<void*>(page_of_ended_fiber());
    void* const memory = mmap(page, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED) << "the stack is still mapped";
    std::memset(memory, 1, bytes);
    munmap(memory, bytes);
  }
}

}  // namespace
}  // namespace bench::cuda::emulator
