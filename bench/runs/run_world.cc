#include "bench/runs/run_world.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <optional>

#include "bench/flags/table.h"
#include "bench/plan/processor_shares.h"
#include "bench/plan/record_settings.h"
#include "bench/runs/process_guard.h"
#include "kernels/cpu/affinity.h"
#include "kernels/gpu_provider.h"
#include "kernels/nccl_library.h"
#include "models/base/errors.h"
#include "results/record/build_info.h"
#include "variable_mgmt/collectives/all_reduce_spec.h"
#include "variable_mgmt/collectives/nccl_collective.h"
#include "variable_mgmt/world/launch.h"
#include "variable_mgmt/world/mpi_transport.h"

namespace bench {
namespace {

std::optional<std::string> variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// The number of ranks whose text equals this rank's, and of those below this rank.
struct Sharing {
  std::size_t ranks = 0;
  std::size_t place = 0;
};
Sharing sharing_of(const std::vector<std::string>& texts, int rank) {
  const auto own = texts.begin() + rank;
  return {.ranks = static_cast<std::size_t>(std::count(texts.begin(), texts.end(), *own)),
          .place = static_cast<std::size_t>(std::count(texts.begin(), own, *own))};
}

/// Divides the processors among the ranks of this host that may use the same ones. Returns a
/// warning for each host with fewer processors than ranks.
std::vector<std::string> divide_processors(World& world, const std::string& host) {
  const std::vector<int> own = cpu::allowed_processors();
  std::string text = host;
  for (const int processor : own) {
    text += fmt::format(" {}", processor);
  }
  const std::vector<std::string> all = world.gather(text);
  std::map<std::string, std::size_t> ranks_with;
  for (const std::string& each : all) {
    ++ranks_with[each];
  }
  std::vector<std::string> warnings;
  for (const auto& [processors, ranks] : ranks_with) {
    const auto count = std::count(processors.begin(), processors.end(), ' ');
    if (static_cast<std::ptrdiff_t>(ranks) > count) {
      warnings.push_back(
          fmt::format("{} ranks on host {} share {} processors, so each waits for the others",
                      ranks, processors.substr(0, processors.find(' ')), count));
    }
  }
  const Sharing sharing = sharing_of(all, world.rank());
  if (sharing.ranks == 1 || own.size() < sharing.ranks) {
    return warnings;
  }
  // By whole cores, as for several devices of one process.
  const auto shares = share_processors(discover_topology(),
                                       {.towers = static_cast<int>(sharing.ranks), .threads = {}});
  if (const int error = cpu::allow_processors(shares[sharing.place].processors); error != 0) {
    throw DeviceError(fmt::format("sched_setaffinity: {}", std::strerror(error)));
  }
  return warnings;
}

/// The ids of the other ranks' processes on this host.
std::set<std::int64_t> neighbours_of(World& world, const std::string& host) {
  const std::vector<std::string> all = world.gather(fmt::format("{} {}", getpid(), host));
  std::set<std::int64_t> ids;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::size_t space = all[rank].find(' ');
    if (static_cast<int>(rank) != world.rank() && all[rank].substr(space + 1) == host) {
      ids.insert(std::stoll(all[rank]));
    }
  }
  return ids;
}

/// The GPUs that this process can use. Throws WorldRefusal if a rank has none.
FoundGpus gpus_of_host(World& world) {
  return agreed(world, [] {
    FoundGpus found = find_gpus();
    found.check_any("--device=gpu");
    return found;
  });
}

/// The ranks that see the same GPUs as this one.
Sharing sharing_of_gpus(World& world, const FoundGpus& found) {
  std::string text = world.host(world.rank());
  for (const GpuDescription& gpu : found.gpus) {
    text += fmt::format(" {}", gpu.pci_bus_id);
  }
  return sharing_of(world.gather(text), world.rank());
}

/// Empty if NCCL can be used.
std::string why_no_nccl() {
  try {
    nccl::Library();
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

std::string text_of(const ParseResult& parsed) {
  std::string text;
  for (const auto& [name, value] : parsed.given) {
    text += fmt::format("--{}={}\n", name, value);
  }
  return text;
}

/// The first line of `text` that `other` does not have.
std::string line_missing(const std::string& text, const std::string& other) {
  for (const std::string& line : split_text(text, '\n')) {
    if (!line.empty() && other.find(line + "\n") == std::string::npos) {
      return line;
    }
  }
  return "";
}

}  // namespace

std::string host_name() {
  constexpr std::size_t kLongest = 256;
  std::string name(kLongest, '\0');
  return gethostname(name.data(), name.size()) == 0 ? name.substr(0, name.find('\0')) : "unknown";
}

bool is_launched() { return is_launched(variable); }

RunWorld join_world() {
  const std::optional<Launch> launch = find_launch(variable);
  if (!launch) {
    return alone();
  }
  const std::string host = host_name();
  RunWorld joined{.world = nullptr, .launcher = launch->launcher};
  std::shared_ptr<ProcessGuard> guard;
  if (launch->size != 1) {
    guard = ProcessGuard::start({.host = host,
                                 .name = launch->rank
                                             ? fmt::format("rank {} (host {})", *launch->rank, host)
                                             : fmt::format("host {}", host)});
  }
  joined.world = std::make_unique<World>(
      [&] { return open_mpi(*launch, plugin_folder().string()); },
      WorldSettings{.host = host,
                    .now = [] { return std::chrono::steady_clock::now().time_since_epoch(); },
                    .heartbeat = guard});
  return joined;
}

void share_hosts(RunWorld& joined) {
  if (joined.world->size() > 1) {
    const std::string host = host_name();
    joined.warnings = divide_processors(*joined.world, host);
    joined.neighbours = neighbours_of(*joined.world, host);
  }
}

void refuse_together(World& world, const std::string& error) {
  try {
    world.agree(error);
  } catch (const UsageError& refused) {
    throw WorldRefusal(refused.what());
  }
}

void check_equal_builds(World& world) {
  const results::Source& source = results::source_info();
  const results::Build& build = results::build_info();
  const std::vector<std::string> builds = world.gather(fmt::format(
      "{} (revision {}{}, {} {}, {})", source.bench_version, source.git_rev.value_or("unknown"),
      source.dirty.value_or(false) ? " with changes" : "", build.compiler, build.version,
      build.flags));
  for (std::size_t rank = 1; rank < builds.size(); ++rank) {
    if (builds[rank] != builds[0]) {
      throw WorldRefusal(fmt::format(
          "{} runs a different build from rank 0: bench {}, not {}; install the same build "
          "on all hosts",
          world.name(static_cast<int>(rank)), builds[rank], builds[0]));
    }
  }
}

void check_equal_flags(World& world, const ParseResult& parsed) {
  const std::vector<std::string> texts = world.gather(text_of(parsed));
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    if (texts[rank] == texts[0]) {
      continue;
    }
    const std::string more = line_missing(texts[rank], texts[0]);
    const std::string less = line_missing(texts[0], texts[rank]);
    throw WorldRefusal(fmt::format(
        "{} has different flags from rank 0: {}{}{}; start all ranks with the same flags",
        world.name(static_cast<int>(rank)), more.empty() ? "" : fmt::format("it has {}", more),
        more.empty() || less.empty() ? "" : ", ",
        less.empty() ? "" : fmt::format("rank 0 has {}", less)));
  }
}

void check_equal_regions(World& world, const Executor& executor) {
  std::string text(name_of(executor.trained_dtype()));
  for (const auto& [name, layout] : executor.plan().choices.held) {
    text += fmt::format(" {}={}", name, layout.token());
  }
  for (const OptimizerSegment& segment : executor.segments()) {
    text += fmt::format(" {}+{}", segment.offset, segment.count);
  }
  const std::vector<std::string> texts = world.gather(text);
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    if (texts[rank] != texts[0]) {
      throw WorldRefusal(
          fmt::format("{} plans different layouts from rank 0, so their gradients cannot be added: "
                      "use hosts with equal processors, or the same --data_format or "
                      "--choices_file; with --autotune=full, each rank times its own layouts",
                      world.name(static_cast<int>(rank))));
    }
  }
}

void check_same(World& world, const std::string& own, std::string_view remedy,
                const std::string& why) {
  const std::vector<std::string> all = world.gather(own);
  const std::vector<std::string> reasons = world.gather(why);
  const auto text = [&](std::size_t rank) {
    return reasons[rank].empty() ? all[rank] : fmt::format("{} ({})", all[rank], reasons[rank]);
  };
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] != all[0]) {
      throw WorldRefusal(fmt::format("{} {}, but rank 0 {}: {}", world.name(static_cast<int>(rank)),
                                     text(rank), text(0), remedy));
    }
  }
}

int first_gpu_of(World& world, int towers) {
  const FoundGpus found = gpus_of_host(world);
  const std::string host = world.host(world.rank());
  const Sharing sharing = sharing_of_gpus(world, found);
  const std::size_t gpus = found.gpus.size();
  const auto each = static_cast<std::size_t>(towers);
  std::string error;
  if (sharing.ranks * each > gpus) {
    error = sharing.ranks == 1
                ? fmt::format("--num_gpus={}: {}", towers, found.how_many())
                : fmt::format(
                      "{} processes with --num_gpus={} need {} GPUs, but {}; start at most "
                      "{} on this host",
                      sharing.ranks, towers, sharing.ranks * each, found.how_many(), gpus / each);
  }
  refuse_together(world, error);
  // Processes may see different GPUs, as CUDA_VISIBLE_DEVICES says, but some in common.
  const std::size_t first = sharing.place * each;
  std::string used;
  for (std::size_t gpu = first; gpu < first + each; ++gpu) {
    used += fmt::format("{} {}\n", host, found.gpus[gpu].pci_bus_id);
  }
  const std::vector<std::string> all = world.gather(used);
  std::map<std::string, int> user_of;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    for (const std::string& gpu : split_text(all[rank], '\n')) {
      const auto [user, is_new] = user_of.try_emplace(gpu, static_cast<int>(rank));
      if (!gpu.empty() && !is_new) {
        throw WorldRefusal(fmt::format(
            "{} and rank {} would both use the GPU {}, because they see different sets of "
            "GPUs: use one CUDA_VISIBLE_DEVICES for all processes of a host, or sets that do not "
            "overlap",
            world.name(static_cast<int>(rank)), user->second, gpu.substr(gpu.rfind(' ') + 1)));
      }
    }
  }
  return static_cast<int>(first);
}

void share_gpus(RunSettings& settings, const Flags& flags, World& world) {
  if (world.size() == 1) {
    return;
  }
  GpuSettings& gpu = settings.execution.gpu;
  const bool on_gpus = settings.execution.device == RunDevice::gpu;
  const bool by_nccl = on_gpus && adds_by_nccl(settings.execution.sharing.sums.spec);
  const std::string version =
      agreed(world, [&] { return by_nccl ? nccl::Library().version() : std::string(); });
  const std::string way =
      on_gpus ? fmt::format("computes on GPUs and adds gradients {}",
                            by_nccl ? fmt::format("by NCCL {}", version) : "in host memory")
              : fmt::format("computes on {}", settings.execution.device_label);
  std::string why;
  if (on_gpus && !by_nccl && !gpu.virtual_towers) {
    why = why_no_nccl();
  } else if (!on_gpus && !flags.device) {
    why = find_gpus().why_none;
  }
  check_same(world, way, "use hosts with GPUs and the same NCCL, or --device=cpu", why);
  if (!on_gpus) {
    return;
  }
  if (gpu.virtual_towers) {
    const FoundGpus found = gpus_of_host(world);
    const Sharing sharing = sharing_of_gpus(world, found);
    const std::size_t gpus = found.gpus.size();
    gpu.first = static_cast<int>(sharing.place % gpus);
    gpu.processes = static_cast<int>((sharing.ranks + gpus - 1) / gpus);
  } else {
    gpu.first = first_gpu_of(world, settings.workload.towers);
  }
  if (by_nccl) {
    const std::string own =
        agreed(world, [&] { return world.rank() == 0 ? new_nccl_id() : std::string(); });
    settings.execution.sharing.sums.nccl_id = world.gather(own).front();
  }
}

void check_built_in_world(World& world, const ParseResult& parsed) {
  if (world.size() == 1) {
    return;
  }
  // A launcher may not pass variables on to other hosts.
  const bool sweeps = parsed.flags.scaling_sweep.has_value() &&
                      world.gather(variable(kScalingVariable).value_or("")).front().empty();
  struct Unbuilt {
    bool given;
    std::string what;
    std::string_view instead;
  };
  const Flags& flags = parsed.flags;
  const std::string& update = flags.variable_update;
  const bool separate = update == "replicated" || update == "independent";
  for (const Unbuilt& unbuilt : std::initializer_list<Unbuilt>{
           {separate && !flags.forward_only, fmt::format("--variable_update={}", update),
            "use --variable_update=horovod or collective_all_reduce"},
           {!flags.ps_hosts.empty() && flags.staged_vars, "--staged_vars", "omit it"},
           {!flags.ps_hosts.empty() && flags.fp16_enable_auto_loss_scale,
            "--fp16_enable_auto_loss_scale with parameter servers",
            "give a loss scale with --fp16_loss_scale"},
           {flags.verify.has_value(), "--verify", "start one process"},
           {!parsed.batch.fixed(), "--batch_size=" + flags.batch_size, "give one batch size"},
           {sweeps, "--scaling_sweep",
            "start bench without a launcher, with --variable_update=horovod"},
           {flags.repeats > 1, "--repeats", "start the run several times, each with --store"},
           {flags.until_ci.has_value(), "--until_ci",
            "start the run several times, each with --store"},
           {flags.cost.has_value(), "--cost", "omit it"},
           {!flags.dump.empty() || flags.dump_tensors, "--dump", "start one process"},
           {flags.diagnose_input.has_value(), "--diagnose_input", "start one process"},
           {flags.profile, "--profile", "start one process"},
           {!flags.trace_file.empty(), "--trace_file", "start one process"},
           {flags.hierarchical_copy, "--hierarchical_copy", "omit it"},
           {flags.all_reduce_spec == "auto", "--all_reduce_spec=auto",
            "compare the algorithms with bench_all_reduce"}}) {
    if (unbuilt.given) {
      throw WorldRefusal(
          fmt::format("{} is not supported yet with several processes ({} were started): {}",
                      unbuilt.what, world.size(), unbuilt.instead));
    }
  }
}

void settle_in_world(RunSettings& settings, const World& world) {
  if (settings.workload.servers > 0 && settings.execution.device == RunDevice::gpu) {
    throw UsageError(
        "GPUs are not supported yet for parameter servers: add --device=cpu, or use "
        "--variable_update=horovod or collective_all_reduce");
  }
  if (settings.execution.device == RunDevice::gpu &&
      !settings.outputs.record.predicted_ranks.empty()) {
    throw UsageError("--predict_ranks is not supported yet for GPUs: omit it");
  }
  if (world.size() > 1) {
    settings.outputs.record.device_counts.clear();  // This is one run of a sweep.
  }
  if (world.rank() != 0) {
    // Rank 0 writes the checkpoints, but all ranks contribute to them.
    settings.outputs = {.checkpoints = settings.outputs.checkpoints,
                        .lines = settings.outputs.lines};
  }
}

}  // namespace bench
