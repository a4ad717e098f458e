#include "variable_mgmt/world/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "models/base/errors.h"

namespace bench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::optional<Launch> launch(const std::map<std::string, std::string>& variables) {
  return find_launch([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(Launch, IsNoneWithoutALauncher) {
  EXPECT_FALSE(launch({}).has_value());
  EXPECT_FALSE(launch({{"SLURM_NTASKS", "4"}}).has_value()) << "in a batch script";
  EXPECT_FALSE(launch({{"WORLD_SIZE", "1"}, {"MASTER_ADDR", "a"}}).has_value());
}

TEST(Launch, KnowsTheMpiOfEachLauncher) {
  const auto open =
      launch({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}, {"PMIX_RANK", "0"}});
  EXPECT_EQ(open->library, "openmpi");
  EXPECT_EQ(open->rank, 3);
  EXPECT_EQ(open->size, 4);
  const auto hydra = launch({{"PMI_SIZE", "3"}, {"PMI_FD", "5"}});
  EXPECT_EQ(hydra->library, "mpich");
  EXPECT_EQ(hydra->launcher, "mpirun of MPICH");
  EXPECT_EQ(hydra->size, 3);
  const auto pmix = launch({{"PMIX_RANK", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}});
  EXPECT_EQ(pmix->library, "openmpi");
  EXPECT_EQ(pmix->launcher, "srun");
  EXPECT_EQ(pmix->size, 2);
  EXPECT_EQ(pmix->rank, 1);
  const auto pmi2 = launch({{"PMI_RANK", "1"}, {"PMI_FD", "5"}, {"SLURM_STEP_NUM_TASKS", "2"}});
  EXPECT_EQ(pmi2->library, "mpich");
  EXPECT_EQ(pmi2->size, 2);
  EXPECT_EQ(pmi2->rank, 1);
}

TEST(Launch, RefusesLaunchersWithoutMpi) {
  EXPECT_THAT(
      [] {
        launch({{"SLURM_STEP_NUM_TASKS", "2"}});
      },
      ThrowsMessage<UsageError>(HasSubstr("--mpi=pmix for Open MPI")));
  EXPECT_THAT(
      [] {
        launch({{"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}});
      },
      ThrowsMessage<UsageError>(HasSubstr("torchrun")));
}

TEST(Launch, CanBeSetByTheEnvironment) {
  EXPECT_FALSE(launch({{"BENCH_MPI", "none"}, {"OMPI_COMM_WORLD_SIZE", "4"}}).has_value());
  EXPECT_EQ(launch({{"BENCH_MPI", "mpich"}})->library, "mpich");
  EXPECT_EQ(launch({{"BENCH_MPI", "mpich"}, {"OMPI_COMM_WORLD_SIZE", "4"}})->size, 4);
  EXPECT_EQ(launch({{"BENCH_MPI", "mpich"}, {"SLURM_STEP_NUM_TASKS", "2"}})->library, "mpich");
  EXPECT_THAT(
      [] {
        launch({{"BENCH_MPI", "lam"}});
      },
      ThrowsMessage<UsageError>("BENCH_MPI=lam: expected openmpi, mpich or none"));
}

}  // namespace
}  // namespace bench
