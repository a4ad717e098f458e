#include "kernels/cpu/library_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A processor with AVX-512 and its bf16, without AMX.
CpuidRegisters zen4(std::uint32_t leaf, std::uint32_t subleaf) {
  if (leaf == 0) return {.eax = 7};
  if (leaf == 7 && subleaf == 0) return {.eax = 1, .ebx = 1U << 5 | 1U << 16, .ecx = 1U << 11};
  return leaf == 7 ? CpuidRegisters{.eax = 1U << 5} : CpuidRegisters{};
}

CpuidRegisters haswell(std::uint32_t leaf, std::uint32_t subleaf) {
  if (leaf == 0) return {.eax = 7};
  return leaf == 7 && subleaf == 0 ? CpuidRegisters{.ebx = 1U << 5} : CpuidRegisters{};
}

Environment holding(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? "" : found->second;
  };
}

std::vector<std::string> costs(const Cpuid& cpuid, std::map<std::string, std::string> variables) {
  return costly_variables(cpuid, holding(std::move(variables)));
}

TEST(RichestIsa, IsWhatTheProcessorOffers) {
  EXPECT_EQ(richest_isa(zen4), "AVX512_CORE_BF16");
  EXPECT_EQ(richest_isa(haswell), "AVX2");
  EXPECT_EQ(richest_isa([](auto, auto) { return CpuidRegisters{}; }), "");
}

TEST(CostlyVariables, ReportUnusedInstructions) {
  const auto of_sse =
      ElementsAre(AllOf(HasSubstr("MAX_CPU_ISA=sse41 prevents oneDNN from using AVX512_CORE_BF16"),
                        HasSubstr("unset")));
  EXPECT_THAT(costs(zen4, {{"DNNL_MAX_CPU_ISA", "sse41"}}), of_sse);
  EXPECT_THAT(costs(zen4, {{"ONEDNN_MAX_CPU_ISA", "sse41"}, {"DNNL_MAX_CPU_ISA", "ALL"}}), of_sse);
  EXPECT_THAT(costs(zen4, {{"ONEDNN_CPU_ISA_HINTS", "PREFER_YMM"}}),
              ElementsAre(HasSubstr("ONEDNN_CPU_ISA_HINTS=PREFER_YMM")));
}

TEST(CostlyVariables, AreAbsentIfNothingIsLost) {
  EXPECT_THAT(costs(zen4, {}), IsEmpty());
  EXPECT_THAT(costs(zen4, {{"ONEDNN_MAX_CPU_ISA", "AVX512_CORE_AMX"}}), IsEmpty());
  EXPECT_THAT(costs(zen4, {{"ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16"}}), IsEmpty());
  // oneDNN passes over what it does not know.
  EXPECT_THAT(costs(zen4, {{"ONEDNN_MAX_CPU_ISA", "quick"}}), IsEmpty());
  EXPECT_THAT(costs(haswell, {{"ONEDNN_CPU_ISA_HINTS", "PREFER_YMM"}}), IsEmpty());
  EXPECT_THAT(costs(zen4, {{"ONEDNN_VERBOSE", "0"}}), IsEmpty());
}

TEST(CostlyVariables, ReportOutputInEveryStep) {
  EXPECT_THAT(costs(zen4, {{"DNNL_VERBOSE", "2"}}),
              ElementsAre(HasSubstr("DNNL_VERBOSE=2 makes oneDNN write a line")));
}

TEST(IsaLimit, IsKnownByName) {
  EXPECT_EQ(isa_limit(holding({{"ONEDNN_MAX_CPU_ISA", "avx2"}})), "AVX2");
  EXPECT_EQ(isa_limit(holding({{"ONEDNN_MAX_CPU_ISA", "fast"}})), std::nullopt);
  EXPECT_TRUE(is_poorer("AVX2", "AVX512_CORE_FP16"));
  EXPECT_FALSE(is_poorer("AVX2", "AVX2"));
}

}  // namespace
}  // namespace bench
