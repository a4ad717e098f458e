#pragma once

#include <sys/syscall.h>
#include <unistd.h>

namespace bench {

/// Allows CPUID in this thread and its children, or makes it raise SIGSEGV. Returns false if the
/// kernel or the processor does not support this. arch_prctl(2), ARCH_SET_CPUID.
inline bool allow_cpuid(bool allowed) {
  constexpr long kSetCpuid = 0x1012;
  return syscall(SYS_arch_prctl, kSetCpuid, allowed ? 1UL : 0UL) == 0;
}

}  // namespace bench
