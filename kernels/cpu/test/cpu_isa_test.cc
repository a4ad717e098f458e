#include "kernels/cpu/cpu_isa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace bench {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kAmx = (1U << 22) | (1U << 24) | (1U << 25);
constexpr std::uint32_t kFp16 = 1U << 23;
constexpr std::uint32_t kBf16 = 1U << 5;
constexpr std::uint32_t kVnni = 1U << 11;
constexpr std::uint32_t kAvx512F = 1U << 16;

using Leaves = std::map<std::pair<std::uint32_t, std::uint32_t>, CpuidRegisters>;

Cpuid answering(Leaves leaves) {
  return [leaves = std::move(leaves)](std::uint32_t leaf, std::uint32_t subleaf) {
    const auto it = leaves.find({leaf, subleaf});
    return it == leaves.end() ? CpuidRegisters{} : it->second;
  };
}

/// A Sapphire Rapids processor whose hypervisor shows AMX but none of its tiles.
Leaves trap() {
  return {{{0, 0}, {.eax = 0x20}},
          {{7, 0}, {.eax = 2, .ebx = kAvx512F, .ecx = kVnni, .edx = kAmx | kFp16}},
          {{7, 1}, {.eax = kBf16}}};
}

std::string cap(const Leaves& leaves) {
  const auto found = cap_for_hidden_amx_tiles(answering(leaves));
  return found ? found->max_cpu_isa : "no cap";
}

TEST(CapForHiddenAmxTiles, KeepsAmxOutAndHalfPrecisionIn) {
  EXPECT_EQ(cap(trap()), "AVX512_CORE_FP16");
}

TEST(CapForHiddenAmxTiles, LeavesAWholeProcessorAlone) {
  Leaves leaves = trap();
  leaves[{0x1d, 0}] = {.eax = 1};
  leaves[{0x1d, 1}] = {.eax = 0x04002000, .ebx = 0x00080040, .ecx = 0x10};
  EXPECT_EQ(cap(leaves), "no cap");
}

TEST(CapForHiddenAmxTiles, LeavesAProcessorWithoutAmxAlone) {
  Leaves leaves = trap();
  leaves[{7, 0}].edx = kFp16;
  EXPECT_EQ(cap(leaves), "no cap");
  EXPECT_EQ(cap({}), "no cap");
  EXPECT_EQ(cap({{{0, 0}, {.eax = 1}}}), "no cap");
}

TEST(CapForHiddenAmxTiles, SeesAPaletteThatIsCountedButNotDescribed) {
  Leaves leaves = trap();
  leaves[{0x1d, 0}] = {.eax = 1};
  EXPECT_EQ(cap(leaves), "AVX512_CORE_FP16");
}

TEST(CapForHiddenAmxTiles, DoesNotTrustALeafBeyondTheHighest) {
  Leaves leaves = trap();
  leaves[{0, 0}] = {.eax = 0x1c};
  leaves[{0x1d, 0}] = {.eax = 1};
  leaves[{0x1d, 1}] = {.eax = 1, .ebx = 1, .ecx = 1};
  EXPECT_EQ(cap(leaves), "AVX512_CORE_FP16");
}

TEST(CapForHiddenAmxTiles, GoesNoFurtherThanTheProcessorOffers) {
  Leaves leaves = trap();
  leaves[{7, 0}].edx = kAmx;
  EXPECT_EQ(cap(leaves), "AVX512_CORE_BF16");
  leaves[{7, 1}] = {};
  EXPECT_EQ(cap(leaves), "AVX512_CORE_VNNI");
  leaves[{7, 0}].ecx = 0;
  EXPECT_EQ(cap(leaves), "AVX512_CORE");
  leaves[{7, 0}].ebx = 0;
  EXPECT_EQ(cap(leaves), "AVX2");
}

TEST(CapForHiddenAmxTiles, SaysWhatItFoundAndWhatHelps) {
  const auto found = cap_for_hidden_amx_tiles(answering(trap()));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->notice, HasSubstr("leaf 0x1D is empty"));
  EXPECT_THAT(found->notice, HasSubstr("AVX512_CORE_FP16"));
}

TEST(ThisProcessor, AnswersOnX86Only) {
#if defined(__x86_64__)
  ASSERT_TRUE(this_processor());
  EXPECT_GE((*this_processor())(0, 0).eax, 1U);
#else
  EXPECT_FALSE(this_processor());
#endif
}

}  // namespace
}  // namespace bench
