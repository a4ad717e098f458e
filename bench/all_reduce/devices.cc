#include "bench/all_reduce/devices.h"

#include <set>

#include "bench/plan/processor_shares.h"
#include "kernels/gpu_provider.h"
#include "kernels/nccl_library.h"
#include "kernels/onednn/onednn_backend.h"
#include "models/base/errors.h"
#include "results/environment/machine.h"
#include "variable_mgmt/collectives/trial.h"

namespace bench {
namespace {

AllReduceDevices gpus_of(const AllReduceOptions& options, int first_gpu) {
  const FoundGpus found = find_gpus();
  found.check_any("--device=gpu");
  const auto first = static_cast<std::size_t>(first_gpu);
  const auto towers = static_cast<std::size_t>(options.towers);
  if (first + towers > found.gpus.size()) {
    throw UsageError(fmt::format("--num_gpus={}: {}", options.towers, found.how_many()));
  }
  AllReduceDevices devices;
  devices.make = [provider = found.provider, first](int rank) {
    return provider->make_backend(first + static_cast<std::size_t>(rank), {});
  };
  std::set<std::string> names;
  for (std::size_t rank = 0; rank < towers; ++rank) {
    names.insert(found.gpus[first + rank].name);
  }
  for (const std::string& name : names) {
    devices.name += fmt::format("{}{}", devices.name.empty() ? "" : ", ", name);
  }
  devices.each = devices.name;
  return devices;
}

}  // namespace

AllReduceDevices devices_of(const AllReduceOptions& options, int first_gpu) {
  if (options.on_gpus) {
    return gpus_of(options, first_gpu);
  }
  auto shares =
      share_processors(discover_topology(), {.towers = options.towers, .threads = options.threads});
  AllReduceDevices devices;
  devices.threads_per_tower = static_cast<int>(shares.front().processors.size());
  devices.each = fmt::format("{} threads", devices.threads_per_tower);
  devices.make = [shares = std::move(shares)](int rank) {
    return make_onednn_backend({.processors = shares[static_cast<std::size_t>(rank)].processors});
  };
  const Captured<std::string> model = capture_cpu(SystemFiles()).model;
  devices.name = model.known() ? model.value() : "";
  return devices;
}

std::vector<std::vector<AllReduceRange>> specs_of(const AllReduceOptions& options, bool several,
                                                  std::string& note) {
  if (!options.specs.empty()) {
    std::vector<std::vector<AllReduceRange>> given;
    for (const std::string& spec : options.specs) {
      given.push_back(parse_all_reduce_spec(spec));
    }
    return given;
  }
  auto specs = several ? std::vector<std::vector<AllReduceRange>>{{{.algorithm = "processes"}}}
                       : specs_to_try(options.towers);
  if (several && mpi_adds(options.dtype)) {
    specs.push_back({{.algorithm = "mpi"}});
  }
  if (options.on_gpus) {
    try {
      nccl::Library();
      specs.push_back({{.algorithm = "nccl"}});
    } catch (const UsageError& error) {
      note = fmt::format("NCCL is not timed: {}", error.what());
    }
  }
  return specs;
}

}  // namespace bench
