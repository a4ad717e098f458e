#include "kernels/cpu/peak.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/cpu/cpu_isa.h"
#include "kernels/cpu/dot_products.h"
#include "kernels/cpu/test/kernel_test.h"

namespace bench::cpu {
namespace {

/// Returns true if this processor has an instruction set of oneDNN's name, or one that includes it.
bool has(const std::string& isa) {
  static const std::vector<std::string> kPoorestFirst{"AVX2",
                                                      "AVX512_CORE",
                                                      "AVX512_CORE_VNNI",
                                                      "AVX512_CORE_BF16",
                                                      "AVX512_CORE_FP16",
                                                      "AVX512_CORE_AMX",
                                                      "AVX512_CORE_AMX_FP16"};
  const auto processor = this_processor();
  const std::string richest = processor ? richest_isa(*processor) : "";
  const auto rank = [&](const std::string& name) {
    return std::find(kPoorestFirst.begin(), kPoorestFirst.end(), name) - kPoorestFirst.begin();
  };
  return rank(richest) < std::ssize(kPoorestFirst) && rank(richest) >= rank(isa);
}

TEST(SecondsPerRound, IsTheFastestRepeat) {
  int runs = 0;
  EXPECT_DOUBLE_EQ(seconds_per_round(16,
                                     [&](std::int64_t rounds) {
                                       return static_cast<double>(rounds) *
                                              (++runs % 10 == 0 ? 1e-6 : 1.5e-6);
                                     }),
                   1e-6);
}

TEST(SecondsPerRound, IgnoresAnInterruptionWhileItChoosesTheRounds) {
  constexpr double kOverhead = 1e-5;
  int runs = 0;
  const double seconds = seconds_per_round(16, [&](std::int64_t rounds) {
    return kOverhead + 1e-9 * static_cast<double>(rounds) + (++runs == 3 ? 1 : 0);
  });
  EXPECT_NEAR(seconds, 1e-9, 1e-11);
}

TEST(SampleFlops, MeasuresOneRun) {
  test::for_teams([](ThreadTeam& team) {
    const double sample = sample_flops(team, MultiplyAdd::f32);
    EXPECT_GT(sample, 0);
    // The clock, and what other programs leave, may change between the two.
    double peak = 0;
    for (int i = 0; i < 10 && peak < sample / 4; ++i) {
      peak = std::max(peak, peak_flops(team, MultiplyAdd::f32));
    }
    EXPECT_GT(peak, sample / 4);
  });
}

// Twelve sums start at 0, 1, ... 11; one lane of each is returned.
constexpr float kStart = 66;
constexpr std::int64_t kRounds = 5;

TEST(MultiplyAddDot, AddsTwoProductsOfBf16PerRoundToEachSum) {
  if (!has("AVX512_CORE_BF16")) {
    GTEST_SKIP() << "this processor has no AVX512_BF16";
  }
  float sum = 0;
  EXPECT_EQ(multiply_add_dot(MultiplyAdd::bf16_pairs, kRounds, &sum), 2.0 * 12 * 32 * kRounds);
  EXPECT_EQ(sum, kStart + 12 * 2 * kRounds);
}

TEST(MultiplyAddDot, AddsFourProductsOfBytesPerRoundToEachSum) {
  if (!has("AVX512_CORE_VNNI")) {
    GTEST_SKIP() << "this processor has no AVX512_VNNI";
  }
  float sum = 0;
  EXPECT_EQ(multiply_add_dot(MultiplyAdd::byte_quads, kRounds, &sum), 2.0 * 12 * 64 * kRounds);
  EXPECT_EQ(sum, kStart + 12 * 4 * kRounds);
}

TEST(MultiplyAddDot, AddsTheProductsOfTiles) {
  if (!has("AVX512_CORE_AMX")) {
    GTEST_SKIP() << "this processor has no AMX";
  }
  request_tiles();
  const auto expect_products = [](MultiplyAdd instruction, int products) {
    float sum = 0;
    EXPECT_EQ(multiply_add_dot(instruction, kRounds, &sum), 2.0 * 6 * 16 * 16 * products * kRounds);
    EXPECT_EQ(sum, static_cast<float>(6 * products * kRounds));
  };
  expect_products(MultiplyAdd::bf16_tiles, 32);
  expect_products(MultiplyAdd::byte_tiles, 64);
  if (has("AVX512_CORE_AMX_FP16")) {
    expect_products(MultiplyAdd::f16_tiles, 32);
  }
}

TEST(PeakBandwidth, StaysInItsMemory) {
  constexpr std::int64_t kCount = 20'000;
  test::for_teams([&](ThreadTeam& team) {
    const test::GuardedFloats memory(std::vector<float>(kCount, 0));
    EXPECT_GT(peak_bandwidth(team, std::as_writable_bytes(std::span(memory.data(), kCount))), 0);
    EXPECT_TRUE(memory.intact());
  });
}

}  // namespace
}  // namespace bench::cpu
