// Replaces the reference backend by devices of which one fails while it computes; linked into the
// program with --wrap. BREAKS_AT selects the place: kernel or update. BREAKS_ON selects the tower:
// first or last of two.
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "bench/loop/test/failing_backend.h"
#include "kernels/reference/reference_backend.h"

namespace bench {

/// The function that the linker replaces, and its replacement.
std::unique_ptr<Backend> whole_backend() asm("__real__ZN5bench22make_reference_backendEv");
std::unique_ptr<Backend> backend_that_breaks() asm("__wrap__ZN5bench22make_reference_backendEv");

std::unique_ptr<Backend> backend_that_breaks() {
  // The first steps succeed. A step launches some tens of kernels.
  constexpr int kGoodKernels = 200;
  constexpr int kGoodUpdates = 4;
  const bool at_kernel = std::string_view(std::getenv("BREAKS_AT")) == "kernel";
  const bool on_first = std::string_view(std::getenv("BREAKS_ON")) == "first";
  // The first tower's thread is the program's main thread.
  const bool breaks = (gettid() == getpid()) == on_first;
  const Fault fault = at_kernel ? Fault::kernel : Fault::optimizer;
  return std::make_unique<FailingBackend>(whole_backend(), breaks ? fault : Fault::none,
                                          at_kernel ? kGoodKernels : kGoodUpdates);
}

}  // namespace bench
