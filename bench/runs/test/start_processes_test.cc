#include "bench/runs/start_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/errors.h"

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Launcher kOpenMpi{.mpi = "openmpi", .program = "/bin/mpirun"};
const Launcher kMpich{.mpi = "mpich", .program = "/bin/mpirun"};

Flags flags_of(std::optional<std::int64_t> np, std::optional<std::string> hosts = {}) {
  Flags flags;
  flags.np = np;
  flags.hosts = std::move(hosts);
  return flags;
}

TEST(StartProcesses, GivesEachMpiItsOptions) {
  EXPECT_THAT(launch_words(kOpenMpi, flags_of(4), {"bench", "--np=4"}, false),
              ElementsAre("/bin/mpirun", "-np", "4", "--bind-to", "none", "--oversubscribe",
                          "bench", "--np=4"));
  EXPECT_THAT(launch_words(kOpenMpi, flags_of(3, "a:2,b"), {"bench"}, true),
              ElementsAre("/bin/mpirun", "-np", "3", "--bind-to", "none", "--allow-run-as-root",
                          "--host", "a:2,b:1", "--mca", "oob_tcp_keepalive_time", "1", "--mca",
                          "oob_tcp_keepalive_intvl", "1", "--mca", "oob_tcp_keepalive_probes", "2",
                          "bench"));
  EXPECT_THAT(launch_words(kMpich, flags_of({}, "a:2,b:2"), {"bench"}, true),
              ElementsAre("/bin/mpirun", "-np", "4", "-hosts", "a:2,b:2", "bench"));
}

std::string refusal(const Flags& flags) {
  try {
    launch_words(kMpich, flags, {"bench"}, false);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(StartProcesses, RefusesHostsThatItCannotUse) {
  EXPECT_EQ(refusal(flags_of(5, "a:2,b:2")),
            "--hosts=a:2,b:2 has 4 slots, but --np=5 asks for more");
  for (const char* hosts : {"a:0", "a:x", ":2", "a,,b", "-a", "a:2x"}) {
    EXPECT_THAT(refusal(flags_of({}, hosts)), HasSubstr("is not a host")) << hosts;
  }
}

TEST(StartProcesses, ComparesWithTheNumberThatWasStarted) {
  EXPECT_NO_THROW(check_number_of_processes(flags_of({}), 7));
  EXPECT_NO_THROW(check_number_of_processes(flags_of(2), 2));
  EXPECT_NO_THROW(check_number_of_processes(flags_of({}, "a:2,b"), 3));
  EXPECT_THROW(check_number_of_processes(flags_of(2), 1), UsageError);
}

}  // namespace
}  // namespace bench
