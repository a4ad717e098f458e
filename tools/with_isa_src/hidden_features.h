#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/cpu/cpu_isa.h"

namespace bench {

/// What a processor offers at most; each level includes those before it.
enum class IsaLevel : std::uint8_t { avx2, avx512_core, avx512_core_vnni };

/// The level that oneDNN calls `name`; nothing for other names.
constexpr std::optional<IsaLevel> isa_level(std::string_view name) {
  if (name == "AVX2") return IsaLevel::avx2;
  if (name == "AVX512_CORE") return IsaLevel::avx512_core;
  if (name == "AVX512_CORE_VNNI") return IsaLevel::avx512_core_vnni;
  return std::nullopt;
}

/// What CPUID answered, without the features above `level`. Bits: Intel 64 manual, volume 2A,
/// CPUID.
constexpr CpuidRegisters without_features(IsaLevel level, std::uint32_t leaf, std::uint32_t subleaf,
                                          CpuidRegisters answer) {
  constexpr std::uint32_t kFeatures = 7;
  constexpr auto bits = [](auto... positions) { return ((1U << positions) | ...); };
  if (leaf != kFeatures) return answer;
  if (subleaf == 0) {
    // AVX-512 FP16, AMX-BF16, AMX-TILE and AMX-INT8.
    answer.edx &= ~bits(23, 22, 24, 25);
    if (level < IsaLevel::avx512_core_vnni) {
      // VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ; 4VNNIW, 4FMAPS, VP2INTERSECT; IFMA.
      answer.ecx &= ~bits(1, 6, 11, 12, 14);
      answer.edx &= ~bits(2, 3, 8);
      answer.ebx &= ~bits(21);
    }
    if (level < IsaLevel::avx512_core) {
      // AVX-512 F, DQ, PF, ER, CD, BW, VL.
      answer.ebx &= ~bits(16, 17, 26, 27, 28, 30, 31);
    }
  } else if (subleaf == 1) {
    // AVX-VNNI, AVX-512 BF16, AMX-FP16, AVX-IFMA; AVX-VNNI-INT8, AVX-NE-CONVERT.
    answer.eax &= ~bits(4, 5, 21, 23);
    answer.edx &= ~bits(4, 5);
  }
  return answer;
}

}  // namespace bench
