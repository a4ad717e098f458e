#include "bench/runs/roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/errors.h"

namespace bench {
namespace {

using testing::HasSubstr;

std::string refusal(const Flags& flags, int processes) {
  try {
    roles_of(flags, processes);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Roles, AllProcessesAreWorkersUnlessHostsAreNamed) {
  Flags flags;
  flags.variable_update = "horovod";
  const Roles roles = roles_of(flags, 4);
  EXPECT_EQ(roles.workers, 4);
  EXPECT_EQ(roles.servers, 0);
}

TEST(Roles, FollowTheNumbersOfHosts) {
  Flags flags;
  flags.worker_hosts = "a:1,b:1,c:1";
  flags.ps_hosts = "a:2,b:2";
  const Roles roles = roles_of(flags, 5);
  EXPECT_EQ(roles.workers, 3);
  EXPECT_EQ(roles.servers, 2);
  EXPECT_EQ(refusal(flags, 1),
            "--worker_hosts names 3 workers and --ps_hosts 2, but 1 process runs: start 5 with "
            "--np=5, --hosts or a launcher");
}

TEST(Roles, OfSeveralProcessesThatShareVariablesMustBeNamed) {
  EXPECT_EQ(refusal(Flags(), 1), "");
  EXPECT_THAT(refusal(Flags(), 2), HasSubstr("--worker_hosts and --ps_hosts"));
  Flags workers_only;
  workers_only.worker_hosts = "a,b";
  EXPECT_THAT(refusal(workers_only, 2), HasSubstr("--worker_hosts and --ps_hosts"));
  workers_only.variable_update = "horovod";
  EXPECT_EQ(refusal(workers_only, 2), "");
}

TEST(Roles, RefuseEmptyNames) {
  Flags flags;
  flags.worker_hosts = "a,,b";
  flags.ps_hosts = "a";
  EXPECT_EQ(refusal(flags, 4), "--worker_hosts=a,,b: a name is empty; write host:port,host:port");
}

}  // namespace
}  // namespace bench
