#include "kernels/gpu_emulator/fiber.h"

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <utility>

// The sanitizers need a notification of every switch: AddressSanitizer needs the bounds of the
// stack, ThreadSanitizer needs to know who runs.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace bench::cuda::emulator {
namespace {

namespace context = boost::context;

// Kernels keep little on the stack. AddressSanitizer makes frames several times larger.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kStackBytes = std::size_t{256} << 10;
#else
constexpr std::size_t kStackBytes = std::size_t{64} << 10;
#endif

/// Clears AddressSanitizer's marks of a stack before it unmaps it.
class StackAllocator : public context::protected_fixedsize_stack {
 public:
  using context::protected_fixedsize_stack::protected_fixedsize_stack;

  void deallocate(context::stack_context& stack) {
#ifdef __SANITIZE_ADDRESS__
    // The last frames are still poisoned, and another thread may map this memory next.
    ASAN_UNPOISON_MEMORY_REGION(static_cast<const std::byte*>(stack.sp) - stack.size, stack.size);
#endif
    context::protected_fixedsize_stack::deallocate(stack);
  }
};

}  // namespace

struct Fiber::State {
  /// Where the fiber resumes; empty while it runs and after it has ended.
  context::fiber suspended;
  /// The fiber that switched to it last.
  State* previous = nullptr;
  const void* stack_bottom = nullptr;
  std::size_t stack_bytes = 0;
  /// State of AddressSanitizer and ThreadSanitizer.
  void* sanitizer = nullptr;
  bool owns_sanitizer = false;

  void leave(State& next, [[maybe_unused]] bool for_good) {
    next.previous = this;
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(for_good ? nullptr : &sanitizer, next.stack_bottom,
                                   next.stack_bytes);
#endif
#ifdef __SANITIZE_THREAD__
    __tsan_switch_to_fiber(next.sanitizer, 0);
#endif
  }

  // NOLINTNEXTLINE(readability-make-member-function-const)
  void arrive(context::fiber&& from) {
    previous->suspended = std::move(from);
#ifdef __SANITIZE_ADDRESS__
    // This returns the bounds of a thread's original stack, which only the sanitizer knows.
    __sanitizer_finish_switch_fiber(sanitizer, &previous->stack_bottom, &previous->stack_bytes);
#endif
  }
};

Fiber::Fiber() : state_(std::make_unique<State>()) {
#ifdef __SANITIZE_THREAD__
  state_->sanitizer = __tsan_get_current_fiber();
#endif
}

Fiber::Fiber(std::function<Fiber&()> body) : state_(std::make_unique<State>()) {
  StackAllocator stacks(kStackBytes);
  const context::stack_context stack = stacks.allocate();
  state_->stack_bottom = static_cast<const std::byte*>(stack.sp) - stack.size;
  state_->stack_bytes = stack.size;
#ifdef __SANITIZE_THREAD__
  state_->sanitizer = __tsan_create_fiber(0);
  state_->owns_sanitizer = true;
#endif
  // If all stacks ended at the same offset in a page, they would share a few cache sets.
  constexpr unsigned kPlaces = 16;
  constexpr std::size_t kBetweenPlaces = 256;
  static thread_local unsigned place = 0;
  const std::size_t unused = ++place % kPlaces * kBetweenPlaces;
  void* const top = static_cast<std::byte*>(stack.sp) - unused;
  state_->suspended =
      context::fiber(std::allocator_arg, context::preallocated(top, stack.size - unused, stack),
                     stacks, [state = state_.get(), body = std::move(body)](context::fiber&& from) {
                       state->arrive(std::move(from));
                       State& next = *body().state_;
                       state->leave(next, true);
                       return std::move(next.suspended);
                     });
}

// NOLINTNEXTLINE(modernize-use-equals-default)
Fiber::~Fiber() {
#ifdef __SANITIZE_THREAD__
  if (state_->owns_sanitizer) {
    __tsan_destroy_fiber(state_->sanitizer);
  }
#endif
}

void Fiber::switch_to(Fiber& next) {
  state_->leave(*next.state_, false);
  context::fiber from = std::move(next.state_->suspended).resume();
  state_->arrive(std::move(from));
}

}  // namespace bench::cuda::emulator
