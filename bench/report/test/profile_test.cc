#include "bench/report/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace bench {
namespace {

using testing::HasSubstr;

/// A step of 10 ms. A convolution at half of the arithmetic ceiling and a batch norm at half of the
/// bandwidth below take 8 ms of it.
Profile example() {
  return {
      .rows = {{.name = "conv", .op = "conv2d", .seconds = 6e-3, .flops = 3e9, .bytes = 1e6},
               {.name = "norm", .op = "batch_norm", .seconds = 2e-3, .bytes = 1e7}},
      .steps = 5,
      .profiled_seconds = 16e-3,
      .step_seconds = 10e-3,
      .ceiling = Ceiling{
          .flops_per_second = 1e12, .product_flops_per_second = 1e12, .bytes_per_second = 1e10}};
}

std::string text(const Profile& profile) {
  std::ostringstream out;
  print_profile(out, profile);
  return out.str();
}

TEST(Roofline, IsTheLongerOfArithmeticAndMemory) {
  const Profile profile = example();
  EXPECT_DOUBLE_EQ(roofline_seconds(profile.rows[0], *profile.ceiling), 3e-3);
  EXPECT_DOUBLE_EQ(roofline_seconds(profile.rows[1], *profile.ceiling), 1e-3);
}

TEST(Roofline, OmitsProductsThatAKernelCanAvoid) {
  Profile profile = example();
  profile.rows[0].avoidable_flops = 1e9;
  EXPECT_DOUBLE_EQ(roofline_seconds(profile.rows[0], *profile.ceiling), 2e-3);
}

TEST(Roofline, LetsCachesHoldAsManyBytesAsTheyHave) {
  const Ceiling ceiling{.flops_per_second = 1e12,
                        .bytes_per_second = 1e9,
                        .caches = {{.level = 1, .bytes = 1000, .bytes_per_second = 1e12},
                                   {.level = 2, .bytes = 9000, .bytes_per_second = 1e10}}};
  const auto seconds = [&](double bytes) { return memory_seconds({.bytes = bytes}, ceiling); };
  EXPECT_DOUBLE_EQ(seconds(1000), 1000 / 1e12);
  EXPECT_DOUBLE_EQ(seconds(6000), 5000 / 1e10);
  EXPECT_DOUBLE_EQ(seconds(110000), 100000 / 1e9);
  EXPECT_DOUBLE_EQ(memory_seconds({.bytes = 2 * 110000, .runs = 2}, ceiling), 2 * 100000 / 1e9)
      << "in each run of a step";
}

TEST(RoofOf, AddsTheMinimumTimesAndSharesThem) {
  const results::Roof roof = roof_of(example());
  EXPECT_DOUBLE_EQ(roof.least_step_seconds.value(), 4e-3);
  EXPECT_DOUBLE_EQ(roof.arithmetic_share.value(), 0.75);
  EXPECT_DOUBLE_EQ(roof.step_bytes.value(), 1.1e7);
  EXPECT_DOUBLE_EQ(roof.flops_per_second.value(), 1e12);
  Profile without = example();
  without.ceiling.reset();
  EXPECT_EQ(roof_of(without).least_step_seconds.why(), "this device has no measured ceiling");
}

TEST(KernelsOf, AreTheRowsInTheirOrder) {
  const Profile profile = example();
  const auto kernels = kernels_of(profile);
  ASSERT_EQ(kernels.size(), profile.rows.size());
  EXPECT_EQ(kernels[1].name, profile.rows[1].name);
  EXPECT_EQ(kernels[1].implementation, profile.rows[1].implementation);
  EXPECT_EQ(kernels[1].seconds, profile.rows[1].seconds);
  EXPECT_EQ(kernels[1].bytes, profile.rows[1].bytes);
}

TEST(PrintProfile, EndsWithTheSharesOfTheStep) {
  EXPECT_THAT(text(example()),
              HasSubstr("kernels: means of 5 more steps of 16.0 ms, 50.0 % outside kernels\n"
                        "ceiling, measured: 1000.0 GFLOP/s, 10.0 GB/s\n"
                        "step: 10.0 ms without input, 40.0 % of the roofline\n"));
}

TEST(PrintProfile, ComparesALargeProductAndCachesWithTheCeiling) {
  Profile profile = example();
  profile.ceiling->product_flops_per_second = 9e11;
  profile.ceiling->caches = {{.level = 1, .bytes_per_second = 4e11},
                             {.level = 3, .bytes_per_second = 2e10}};
  EXPECT_THAT(text(profile),
              HasSubstr("ceiling, measured: 1000.0 GFLOP/s, 10.0 GB/s\n"
                        "a large matrix product: 900.0 GFLOP/s, 90 % of the ceiling\n"
                        "caches: L1 400.0 GB/s, L3 20.0 GB/s\n"));
}

TEST(PrintProfile, SaysThatOthersMayUseTheCores) {
  const auto is_silent = testing::Not(HasSubstr("between the profiled steps"));
  Profile profile = example();
  profile.ceiling->product_flops_per_second = 9e11;
  profile.sampled_flops = 6.3e11;
  EXPECT_THAT(text(profile),
              HasSubstr("between the profiled steps: 630.0 GFLOP/s, 63 % of the ceiling; other "
                        "programs or virtual machines may use the same cores\n"));
  profile.sampled_flops = 9.5e11;
  EXPECT_THAT(text(profile), is_silent);
  // The product is the ceiling: its instructions are not those that were sampled.
  profile.sampled_flops = 6.3e11;
  profile.ceiling->product_flops_per_second = profile.ceiling->flops_per_second;
  EXPECT_THAT(text(profile), is_silent);
}

TEST(PrintProfile, HasNoShareOfTheCeilingForUnknownWork) {
  Profile profile = example();
  profile.rows.push_back({.name = "all towers", .op = "exchange", .seconds = 1e-3});
  EXPECT_THAT(text(profile),
              HasSubstr("     1.000      6.2         -        -             -  exchange\n"));
}

TEST(PrintProfile, SaysThatADeviceHasNoCeiling) {
  Profile profile = example();
  profile.ceiling.reset();
  EXPECT_THAT(text(profile),
              HasSubstr("step: 10.0 ms without input; this device has no measured ceiling\n"));
}

TEST(RoofOf, SeveralTowersIsTheLargestOfTheirMinimumTimes) {
  std::vector<Profile> towers(3, example());
  towers[1].rows[0].flops *= 2;
  towers[2].ceiling.reset();
  EXPECT_DOUBLE_EQ(roof_of(towers).least_step_seconds.value(), 7e-3);
  std::swap(towers[0], towers[2]);
  EXPECT_DOUBLE_EQ(roof_of(towers).least_step_seconds.value(), 7e-3);
  towers.erase(towers.begin() + 1, towers.end());
  EXPECT_EQ(roof_of(towers).least_step_seconds.why(), "this device has no measured ceiling");
}

TEST(PrintProfiles, NamesEachOfSeveralTowers) {
  std::ostringstream out;
  print_profiles(out, std::vector<Profile>(2, example()));
  EXPECT_EQ(out.str(), fmt::format("tower 0\n{}\ntower 1\n{}", text(example()), text(example())));
  std::ostringstream alone;
  print_profiles(alone, std::vector<Profile>(1, example()));
  EXPECT_EQ(alone.str(), text(example()));
}

}  // namespace
}  // namespace bench
