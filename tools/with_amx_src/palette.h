#pragma once

#include <cstdint>

#include "kernels/cpu/cpu_isa.h"

namespace bench {

/// Returns CPUID's answer, with AMX's tile palette 1 added to leaf 0x1D if it is missing: 8 tiles
/// of 16 rows of 64 bytes. The highest leaf then includes 0x1D. Intel 64 manual, volume 2A, CPUID.
/// Every AMX processor so far has this palette.
constexpr CpuidRegisters with_tile_palette(std::uint32_t leaf, std::uint32_t subleaf,
                                           CpuidRegisters answer) {
  constexpr std::uint32_t kTileInformation = 0x1d;
  if (leaf == 0 && answer.eax < kTileInformation) {
    answer.eax = kTileInformation;
  }
  if (leaf != kTileInformation) {
    return answer;
  }
  constexpr std::uint32_t kTiles = 8;
  constexpr std::uint32_t kRows = 16;
  constexpr std::uint32_t kBytesPerRow = 64;
  constexpr std::uint32_t kBytesPerTile = kRows * kBytesPerRow;
  if (subleaf == 0 && answer.eax == 0) {
    answer.eax = 1;  // the highest palette
  } else if (subleaf == 1 && (answer.eax == 0 || answer.ebx == 0 || answer.ecx == 0)) {
    answer.eax = kBytesPerTile << 16U | kTiles * kBytesPerTile;
    answer.ebx = kTiles << 16U | kBytesPerRow;
    answer.ecx = kRows;
  }
  return answer;
}

}  // namespace bench
