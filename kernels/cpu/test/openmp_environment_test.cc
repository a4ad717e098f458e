#include "kernels/cpu/openmp_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

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

void check_openmp_stack(const std::string& value) {
  check_stacks(holding({{"OMP_STACKSIZE", value}}), kUnlimited);
}

TEST(ShortWaits, AreSetWhereTheUserDecidesNothing) {
  ASSERT_TRUE(short_waits(holding({})));
  // Shorter than OpenMP's default, but not zero.
  EXPECT_GT(std::stoi(*short_waits(holding({}))), 0);
  EXPECT_LT(std::stoi(*short_waits(holding({}))), 300'000);
}

TEST(ShortWaits, LeaveTheUsersOwnVariablesAlone) {
  EXPECT_FALSE(short_waits(holding({{kSpinVariable, "300000"}})));
  EXPECT_FALSE(short_waits(holding({{"OMP_WAIT_POLICY", "active"}})));
}

TEST(CheckStacks, ReadsSizesAsOpenmpDoes) {
  for (const char* enough : {"256", "256K", " 1024 k ", "262144B", "1m", "1G"}) {
    EXPECT_NO_THROW(check_openmp_stack(enough)) << enough;
  }
  for (const char* less : {"255", "0", "16k", " 16 K ", "262143b"}) {
    EXPECT_THROW(check_openmp_stack(less), UsageError) << less;
  }
}

TEST(CheckStacks, IgnoresInvalidSizesAsOpenmpDoes) {
  for (const char* value :
       {"", " ", "x", "-1", "1T", "1kk", "99999999999999999999", "9999999999G"}) {
    EXPECT_NO_THROW(check_openmp_stack(value)) << value;
  }
}

TEST(CheckStacks, NamesTheVariableThatIsTooSmall) {
  EXPECT_THAT([] { check_openmp_stack("16k"); },
              ThrowsMessage<UsageError>(HasSubstr("OMP_STACKSIZE gives each thread a stack of "
                                                  "16384 bytes; accepted: at least 256K")));
  EXPECT_THAT(
      [] {
        check_stacks(holding({{"GOMP_STACKSIZE", "1"}}), kUnlimited);
      },
      ThrowsMessage<UsageError>(testing::StartsWith("GOMP_STACKSIZE gives")));
  EXPECT_NO_THROW(
      check_stacks(holding({{"OMP_STACKSIZE", "1M"}, {"GOMP_STACKSIZE", "1"}}), kUnlimited));
}

TEST(CheckStacks, ChecksTheLimitOfTheSystemToo) {
  EXPECT_THAT(
      [] { check_stacks(holding({}), 64 * kKibi); },
      ThrowsMessage<UsageError>(HasSubstr("(ulimit -s) is 64 KiB; accepted: at least 256 KiB")));
  EXPECT_NO_THROW(check_stacks(holding({}), 256 * kKibi));
}

TEST(StackLimit, IsWhatUlimitAllows) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_STACK, &before), 0);
  const rlimit lower{.rlim_cur = 3000 * kKibi, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_STACK, &lower), 0);
  EXPECT_EQ(stack_limit_bytes(), 3000 * kKibi);
  EXPECT_EQ(setrlimit(RLIMIT_STACK, &before), 0);
}

}  // namespace
}  // namespace bench
