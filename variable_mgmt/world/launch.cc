#include "variable_mgmt/world/launch.h"

#include <charconv>

#include "models/base/errors.h"

namespace bench {
namespace {

std::optional<int> number_of(const std::optional<std::string>& text) {
  if (!text) {
    return std::nullopt;
  }
  int number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  return error == std::errc() && end == text->data() + text->size() ? std::optional(number)
                                                                    : std::nullopt;
}

/// The launcher's variables, without the refusals of launch_of().
std::optional<Launch> known_launch(const EnvironmentLookup& environment) {
  if (const auto size = environment("OMPI_COMM_WORLD_SIZE")) {
    return Launch{.library = "openmpi",
                  .launcher = "mpirun of Open MPI",
                  .size = number_of(size),
                  .rank = number_of(environment("OMPI_COMM_WORLD_RANK"))};
  }
  const auto slurm_size = number_of(environment("SLURM_STEP_NUM_TASKS"));
  if (const auto rank = environment("PMIX_RANK")) {
    return Launch{.library = "openmpi",
                  .launcher = slurm_size ? "srun" : "a PMIx launcher",
                  .size = slurm_size,
                  .rank = number_of(rank)};
  }
  const auto pmi_size = environment("PMI_SIZE");
  if (pmi_size || environment("PMI_FD")) {
    return Launch{.library = "mpich",
                  .launcher = slurm_size ? "srun" : "mpirun of MPICH",
                  .size = pmi_size ? number_of(pmi_size) : slurm_size,
                  .rank = number_of(environment("PMI_RANK"))};
  }
  return std::nullopt;
}

std::optional<Launch> launch_of(const EnvironmentLookup& environment) {
  if (auto known = known_launch(environment)) {
    return known;
  }
  const auto slurm_size = number_of(environment("SLURM_STEP_NUM_TASKS"));
  if (slurm_size.value_or(1) > 1) {
    throw UsageError(fmt::format(
        "srun started {} processes without PMI, so they cannot find each other: add --mpi=pmix "
        "for Open MPI, or --mpi=pmi2 for MPICH; BENCH_MPI=none runs each as a single process",
        *slurm_size));
  }
  if (number_of(environment("WORLD_SIZE")).value_or(1) > 1 && environment("MASTER_ADDR")) {
    throw UsageError(
        "torchrun started this process, but bench does not use its rendezvous: start bench with "
        "mpirun, with srun --mpi=pmix, or as a Kubernetes MPIJob; BENCH_MPI=none runs each as a "
        "single process");
  }
  return std::nullopt;
}

}  // namespace

bool is_launched(const EnvironmentLookup& environment) {
  return known_launch(environment).has_value();
}

std::optional<Launch> find_launch(const EnvironmentLookup& environment) {
  const auto wanted = environment("BENCH_MPI");
  if (!wanted) {
    return launch_of(environment);
  }
  if (*wanted == "none") {
    return std::nullopt;
  }
  if (*wanted != "openmpi" && *wanted != "mpich") {
    throw UsageError(fmt::format("BENCH_MPI={}: expected openmpi, mpich or none", *wanted));
  }
  const auto found = known_launch(environment);
  return Launch{.library = *wanted,
                .launcher = found ? found->launcher : "BENCH_MPI",
                .size = found ? found->size : std::nullopt,
                .rank = found ? found->rank : std::nullopt};
}

}  // namespace bench
