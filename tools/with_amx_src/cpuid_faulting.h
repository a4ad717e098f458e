#pragma once

#include <sys/syscall.h>
#include <unistd.h>

namespace bench {

/// Whether CPUID may run in this thread and in those it starts, or raises SIGSEGV; false where the
/// kernel or the processor cannot do that. arch_prctl(2), ARCH_SET_CPUID.
inline bool allow_cpuid(bool allowed) {
  constexpr long kSetCpuid = 0x1012;
  return syscall(SYS_arch_prctl, kSetCpuid, allowed ? 1UL : 0UL) == 0;
}

}  // namespace bench
