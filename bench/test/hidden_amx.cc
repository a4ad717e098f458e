// Simulates a processor whose hypervisor advertises AMX and hides its tiles. Linked into the
// program with --wrap, it replaces queries of the processor.
#include <algorithm>

#include "kernels/cpu/cpu_isa.h"

namespace bench {

/// The function that the linker replaces, and its replacement.
std::optional<Cpuid> real_processor() asm("__real__ZN5bench14this_processorEv");
std::optional<Cpuid> processor_with_hidden_amx() asm("__wrap__ZN5bench14this_processorEv");

std::optional<Cpuid> processor_with_hidden_amx() {
  return [real = real_processor().value()](std::uint32_t leaf, std::uint32_t subleaf) {
    constexpr std::uint32_t kFeatures = 7;
    constexpr std::uint32_t kTiles = 0x1d;
    constexpr std::uint32_t kAmxBf16TileAndInt8 = (1U << 22) | (1U << 24) | (1U << 25);
    CpuidRegisters answer = leaf == kTiles ? CpuidRegisters{} : real(leaf, subleaf);
    if (leaf == 0) answer.eax = std::max(answer.eax, kTiles);
    if (leaf == kFeatures && subleaf == 0) answer.edx |= kAmxBf16TileAndInt8;
    return answer;
  };
}

}  // namespace bench
