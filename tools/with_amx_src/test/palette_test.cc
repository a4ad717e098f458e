#include "tools/with_amx_src/palette.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

constexpr std::uint32_t kFeatures = 7;
constexpr std::uint32_t kTiles = 0x1d;

/// A processor whose hypervisor advertises AMX (EDX bits 22, 24 and 25 of leaf 7) and nothing more.
CpuidRegisters hidden(std::uint32_t highest, std::uint32_t leaf, std::uint32_t subleaf) {
  if (leaf == 0) {
    return {.eax = highest};
  }
  return {.edx = leaf == kFeatures && subleaf == 0 ? 0x3400000U | 1U << 25U : 0U};
}

TEST(TilePalette, RevealsHiddenTiles) {
  for (const std::uint32_t highest : {0x20U, 0x14U}) {
    const auto before = [&](std::uint32_t leaf, std::uint32_t subleaf) {
      return hidden(highest, leaf, subleaf);
    };
    ASSERT_TRUE(cap_for_hidden_amx_tiles(before));
    EXPECT_FALSE(cap_for_hidden_amx_tiles([&](std::uint32_t leaf, std::uint32_t subleaf) {
      return with_tile_palette(leaf, subleaf, before(leaf, subleaf));
    }));
  }
}

TEST(TilePalette, HasEightTilesOfOneKibibyte) {
  const CpuidRegisters palette = with_tile_palette(kTiles, 1, {});
  EXPECT_EQ(palette.eax, 1024U << 16U | 8192U);
  EXPECT_EQ(palette.ebx, 8U << 16U | 64U);
  EXPECT_EQ(palette.ecx, 16U);
  EXPECT_EQ(with_tile_palette(kTiles, 0, {}).eax, 1U);
}

TEST(TilePalette, KeepsValuesOfTheProcessor) {
  EXPECT_EQ(with_tile_palette(kTiles, 0, {.eax = 2}).eax, 2U);
  EXPECT_EQ(with_tile_palette(kTiles, 1, {.eax = 5, .ebx = 6, .ecx = 7}).eax, 5U);
  EXPECT_EQ(with_tile_palette(kTiles, 2, {}).eax, 0U);
  EXPECT_EQ(with_tile_palette(kFeatures, 0, {.eax = 1, .edx = 7}).edx, 7U);
}

}  // namespace
}  // namespace bench
