#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace bench {

/// The four registers that the CPUID instruction fills.
struct CpuidRegisters {
  std::uint32_t eax = 0;
  std::uint32_t ebx = 0;
  std::uint32_t ecx = 0;
  std::uint32_t edx = 0;
};

/// Queries CPUID for a leaf and subleaf. Leaves beyond the highest one return zeros.
using Cpuid = std::function<CpuidRegisters(std::uint32_t leaf, std::uint32_t subleaf)>;

/// The CPUID of the current processor; empty if it has none (not x86-64).
std::optional<Cpuid> this_processor();

/// The richest instruction set that the processor offers and oneDNN uses, by oneDNN's name
/// ("AVX512_CORE_BF16"); empty below AVX2. Hidden tiles do not count.
std::string richest_isa(const Cpuid& cpuid);

/// A limit on the instruction sets a library may use.
struct IsaCap {
  std::string max_cpu_isa{};  ///< By oneDNN's name: the value of ONEDNN_MAX_CPU_ISA.
  std::string notice{};       ///< For the user: the finding, the action, the remedy.
};

/// Some hypervisors advertise AMX but hide its tile palettes (leaf 0x1D returns zeros). Then oneDNN
/// configures tiles that do not exist, and the process gets SIGILL. Returns the widest available
/// limit without AMX, or nothing if AMX is absent or complete. Bits: Intel 64 manual, volume 2A,
/// CPUID. Call it before the first oneDNN call.
std::optional<IsaCap> cap_for_hidden_amx_tiles(const Cpuid& cpuid);

}  // namespace bench
