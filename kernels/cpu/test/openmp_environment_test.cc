#include "kernels/cpu/openmp_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "models/base/errors.h"

namespace bench {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t kKibi = 1024;
constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

Environment holding(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? "" : found->second;
  };
}

std::optional<std::int64_t> stack_of(const std::string& value) {
  return openmp_stack_bytes(holding({{"OMP_STACKSIZE", value}}));
}

TEST(ShortWaits, AreSetWhereTheUserDecidesNothing) {
  ASSERT_TRUE(short_waits(holding({})));
  // Shorter than OpenMP's own, and not none.
  EXPECT_GT(std::stoi(*short_waits(holding({}))), 0);
  EXPECT_LT(std::stoi(*short_waits(holding({}))), 300'000);
}

TEST(ShortWaits, LeaveTheUsersOwnVariablesAlone) {
  EXPECT_FALSE(short_waits(holding({{kSpinVariable, "300000"}})));
  EXPECT_FALSE(short_waits(holding({{"OMP_WAIT_POLICY", "active"}})));
}

TEST(OpenmpStack, IsReadAsOpenmpReadsIt) {
  EXPECT_EQ(stack_of("512"), 512 * kKibi);
  EXPECT_EQ(stack_of("512B"), 512);
  EXPECT_EQ(stack_of(" 16 k "), 16 * kKibi);
  EXPECT_EQ(stack_of("2m"), 2 * kKibi * kKibi);
  EXPECT_EQ(stack_of("1G"), kKibi * kKibi * kKibi);
  EXPECT_EQ(openmp_stack_bytes(holding({{"GOMP_STACKSIZE", "3M"}})), 3 * kKibi * kKibi);
}

TEST(OpenmpStack, IsUnknownWhereOpenmpTakesTheValueForNone) {
  for (const char* value :
       {"", " ", "x", "-1", "1T", "1kk", "99999999999999999999", "9999999999G"}) {
    EXPECT_EQ(stack_of(value), std::nullopt) << value;
  }
}

TEST(CheckStacks, RefusesStacksThatAreTooSmallForKernels) {
  EXPECT_THAT(
      [] {
        check_stacks(holding({{"OMP_STACKSIZE", "16k"}}), kUnlimited);
      },
      ThrowsMessage<UsageError>(HasSubstr("OMP_STACKSIZE gives each thread a stack of "
                                          "16384 bytes; accepted: 256K and more")));
  EXPECT_THAT([] { check_stacks(holding({}), 64 * kKibi); },
              ThrowsMessage<UsageError>(HasSubstr("64 KiB (ulimit -s); accepted: 256 and more")));
}

TEST(CheckStacks, TakesOrdinaryStacks) {
  EXPECT_NO_THROW(check_stacks(holding({{"OMP_STACKSIZE", "256K"}}), 8192 * kKibi));
  EXPECT_NO_THROW(check_stacks(holding({}), kUnlimited));
}

TEST(StackLimit, IsWhatUlimitAllows) { EXPECT_GE(stack_limit_bytes(), 256 * kKibi); }

}  // namespace
}  // namespace bench
