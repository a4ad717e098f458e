#include "kernels/cpu/cpu_isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "models/base/errors.h"

namespace bench {
namespace {

constexpr std::uint32_t kFeatures = 7;
constexpr std::uint32_t kTiles = 0x1d;

bool bit(std::uint32_t value, int position) { return ((value >> position) & 1) != 0; }

bool offers_amx(const CpuidRegisters& features) {
  constexpr int kAmxBf16 = 22;
  constexpr int kAmxTile = 24;
  constexpr int kAmxInt8 = 25;
  return bit(features.edx, kAmxTile) &&
         (bit(features.edx, kAmxBf16) || bit(features.edx, kAmxInt8));
}

/// Subleaf 0 has the highest palette; subleaf 1 describes palette 1, the only existing one.
bool tiles_are_described(const Cpuid& cpuid) {
  if (cpuid(0, 0).eax < kTiles || cpuid(kTiles, 0).eax == 0) return false;
  const CpuidRegisters palette = cpuid(kTiles, 1);
  return palette.eax != 0 && palette.ebx != 0 && palette.ecx != 0;
}

/// The widest of oneDNN's instruction sets below AMX; each includes the ones after it.
std::string widest_without_amx(const Cpuid& cpuid, const CpuidRegisters& features) {
  constexpr int kAvx512Fp16 = 23;  // edx
  constexpr int kAvx512Bf16 = 5;   // eax of subleaf 1
  constexpr int kAvx512Vnni = 11;  // ecx
  constexpr int kAvx512F = 16;     // ebx
  if (bit(features.edx, kAvx512Fp16)) return "AVX512_CORE_FP16";
  if (features.eax >= 1 && bit(cpuid(kFeatures, 1).eax, kAvx512Bf16)) return "AVX512_CORE_BF16";
  if (bit(features.ecx, kAvx512Vnni)) return "AVX512_CORE_VNNI";
  return bit(features.ebx, kAvx512F) ? "AVX512_CORE" : "AVX2";
}

}  // namespace

std::optional<Cpuid> this_processor() {
#if defined(__x86_64__)
  return [](std::uint32_t leaf, std::uint32_t subleaf) {
    CpuidRegisters out;
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    if (__get_cpuid_count(leaf, subleaf, &eax, &ebx, &ecx, &edx) != 0) {
      out = {.eax = eax, .ebx = ebx, .ecx = ecx, .edx = edx};
    }
    return out;
  };
#else
  return std::nullopt;
#endif
}

std::string richest_isa(const Cpuid& cpuid) {
  constexpr int kAvx2 = 5;      // ebx
  constexpr int kAmxFp16 = 21;  // eax of subleaf 1
  if (cpuid(0, 0).eax < kFeatures) return "";
  const CpuidRegisters features = cpuid(kFeatures, 0);
  if (offers_amx(features) && tiles_are_described(cpuid)) {
    const bool fp16 = features.eax >= 1 && bit(cpuid(kFeatures, 1).eax, kAmxFp16);
    return fp16 ? "AVX512_CORE_AMX_FP16" : "AVX512_CORE_AMX";
  }
  return bit(features.ebx, kAvx2) ? widest_without_amx(cpuid, features) : "";
}

std::optional<IsaCap> cap_for_hidden_amx_tiles(const Cpuid& cpuid) {
  if (cpuid(0, 0).eax < kFeatures) return std::nullopt;
  const CpuidRegisters features = cpuid(kFeatures, 0);
  if (!offers_amx(features) || tiles_are_described(cpuid)) return std::nullopt;
  const std::string isa = widest_without_amx(cpuid, features);
  return IsaCap{.max_cpu_isa = isa,
                .notice = fmt::format(
                    "the processor advertises AMX but the hypervisor hides its tiles (CPUID leaf "
                    "0x1D is empty), so using them would crash this program. AMX is not used, and "
                    "kernels are limited to {}. To speed up bf16 and int8, expose leaf 0x1D to the "
                    "guest or put tools/with_amx before the command",
                    isa)};
}

}  // namespace bench
