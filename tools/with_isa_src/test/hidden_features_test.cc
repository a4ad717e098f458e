#include "tools/with_isa_src/hidden_features.h"

#include <gtest/gtest.h>

#include "kernels/cpu/cpu_isa.h"

namespace bench {
namespace {

/// A processor with every feature, tiles included.
CpuidRegisters everything(std::uint32_t leaf, std::uint32_t /*subleaf*/) {
  constexpr std::uint32_t kAll = ~0U;
  constexpr std::uint32_t kHighestLeaf = 0x20;
  return leaf == 0 ? CpuidRegisters{.eax = kHighestLeaf} : CpuidRegisters{kAll, kAll, kAll, kAll};
}

TEST(HiddenFeatures, KeepTheNamedLevel) {
  ASSERT_EQ(richest_isa(everything), "AVX512_CORE_AMX_FP16");
  for (const char* const name : {"AVX2", "AVX512_CORE", "AVX512_CORE_VNNI"}) {
    const auto limited = [&](std::uint32_t leaf, std::uint32_t subleaf) {
      return without_features(isa_level(name).value(), leaf, subleaf, everything(leaf, subleaf));
    };
    EXPECT_EQ(richest_isa(limited), name);
  }
}

TEST(HiddenFeatures, AreNotAddedToAProcessorWithoutThem) {
  const auto nothing = [](std::uint32_t leaf, std::uint32_t subleaf) {
    return without_features(IsaLevel::avx512_core_vnni, leaf, subleaf, CpuidRegisters{});
  };
  EXPECT_EQ(richest_isa(nothing), "");
}

TEST(HiddenFeatures, KnowThreeLevels) { EXPECT_EQ(isa_level("AVX512_CORE_BF16"), std::nullopt); }

}  // namespace
}  // namespace bench
