// Times how towers of one host or of several add their gradients, by each algorithm. The sizes are
// those of a network or given ones. See README.md in this folder.

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>

#include "bench/all_reduce/cases.h"
#include "bench/all_reduce/devices.h"
#include "bench/all_reduce/measure.h"
#include "bench/all_reduce/options.h"
#include "bench/all_reduce/report.h"
#include "bench/runs/run_world.h"
#include "kernels/core_library.h"
#include "kernels/cpu/openmp_environment.h"
#include "kernels/nccl_library.h"
#include "models/base/atomic_file.h"
#include "models/base/errors.h"
#include "models/base/text.h"

namespace bench {
namespace {

/// Prints the lines of tf_cnn_benchmarks for the timed spec.
void print_steps(std::ostream& out, const SpecResult& result, int iters_per_step) {
  constexpr std::size_t kDisplayEvery = 10;
  const std::vector<double>& seconds = result.timing.seconds;
  double sum = 0;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    sum += seconds[i] * iters_per_step;
    if ((i + 1) % kDisplayEvery == 0) {
      out << "Iteration: " << i + 1
          << ". Average time per step so far: " << sum / static_cast<double>(i + 1) << "\n";
    }
  }
  out << "Average time per step: " << std::fixed << sum / static_cast<double>(seconds.size())
      << "\n";
}

std::vector<std::string> names_of(int towers) {
  std::vector<std::string> names;
  for (int rank = 0; rank < towers; ++rank) {
    names.push_back(fmt::format("tower {}", rank));
  }
  return names;
}

/// What all processes must agree on before they measure.
struct Setup {
  AllReduceOptions options;
  AllReduceDevices devices = {};
  std::vector<std::vector<AllReduceRange>> specs = {};
  std::string note = {};
};

Setup set_up(std::span<const std::string> words, World& world) {
  Setup setup{.options = agreed(world, [&] { return read_options(words, world.size()); })};
  if (setup.options.help) {
    return setup;
  }
  const int first_gpu =
      setup.options.on_gpus && world.size() > 1 ? first_gpu_of(world, setup.options.towers) : 0;
  setup.devices = agreed(world, [&] { return devices_of(setup.options, first_gpu); });
  setup.specs = specs_of(setup.options, world.size() > 1, setup.note);
  if (world.size() > 1) {
    const bool by_nccl = std::any_of(setup.specs.begin(), setup.specs.end(),
                                     [](const auto& spec) { return adds_by_nccl(spec); });
    const std::string way = agreed(world, [&] {
      return by_nccl ? fmt::format("uses NCCL {}", nccl::Library().version())
                     : std::string("does not use NCCL");
    });
    check_same(world, way, "install the same NCCL on all hosts");
  }
  return setup;
}

int run(std::span<const std::string> words, RunWorld& joined) {
  World& world = *joined.world;
  auto [options, devices, specs, note] = set_up(words, world);
  if (options.help) {
    if (joined.prints()) {
      print_usage(std::cout);
    }
    return 0;
  }
  std::optional<AtomicFile> file;
  agreed(world, [&] {
    if (joined.prints() && !options.result_file.empty()) {
      file.emplace(options.result_file);
    }
    return true;
  });
  if (joined.prints() && !note.empty()) {
    std::cerr << "note: " << printable(note) << "\n";
  }
  const MeasureSettings settings{.names = names_of(options.towers),
                                 .world = joined.others(),
                                 .specs = specs,
                                 .iters_per_step = options.iters_per_step,
                                 .warm_up = options.num_warmup_batches,
                                 .repetitions = options.num_batches,
                                 .bound = !options.on_gpus && !joined.several(),
                                 .make_backend = devices.make};
  const int towers = options.towers * world.size();
  std::vector<CaseResult> results;
  for (const AllReduceCase& each : cases_of(options)) {
    if (joined.prints()) {
      std::cerr << fmt::format("{} bytes of {}, number of buffers: {}\n", each.bytes(),
                               name_of(each.dtype), each.elements.size());
    }
    results.push_back(measure_case(settings, each));
  }
  if (joined.prints() && options.result_file != "-") {
    std::cout << (joined.several() ? fmt::format("{} processes x ", world.size()) : "")
              << options.towers << " towers x " << devices.each << ", " << name_of(options.dtype)
              << ", medians of " << options.num_batches << " steps of " << options.iters_per_step
              << " all-reduces\n"
              << (settings.bound ? describe_bound() + "\n" : "") << table_of(results, towers);
    if (!options.model.empty() && specs.size() == 1) {
      print_steps(std::cout, results[0].specs[0], options.iters_per_step);
    }
  }
  if (file) {
    file->write(json_of(results, {.processes = world.size(),
                                  .towers = towers,
                                  .threads_per_tower = devices.threads_per_tower,
                                  .processor = options.on_gpus ? "" : devices.name,
                                  .gpu = options.on_gpus ? devices.name : "",
                                  .model = options.model,
                                  .iters_per_step = options.iters_per_step}));
  }
  return std::any_of(results.begin(), results.end(),
                     [](const CaseResult& result) {
                       return std::any_of(result.specs.begin(), result.specs.end(),
                                          [](const SpecResult& spec) { return spec.wrong > 0; });
                     })
             ? 1
             : 0;
}

int run_in_world(std::span<const std::string> words) {
  RunWorld joined = join_world();
  if (!joined.several()) {
    return run(words, joined);
  }
  World& world = *joined.world;
  constexpr int kUsage = 2;
  int status = kUsage;
  try {
    share_hosts(joined);
    status = run(words, joined);
  } catch (const WorldRefusal& refusal) {
    if (joined.prints()) {
      std::cerr << "bench_all_reduce: " << printable(refusal.what()) << "\n";
    }
  } catch (const std::exception& error) {
    world.fail(fmt::format("{}: {}", world.name(world.rank()), error.what()));
    world.wait_for_end();
  }
  world.leave(status);
  if (const std::string failure = world.failure(); !failure.empty()) {
    std::cerr << "bench_all_reduce: " << printable(failure) << std::endl;
    _exit(1);
  }
  return status;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  if (!bench::core_fits("bench_all_reduce")) {
    return 1;
  }
  bench::restart_with_short_waits(argv);
  constexpr int kWriteFailed = 74;  // bench uses the same status.
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    return bench::run_in_world(words);
  } catch (const bench::UsageError& error) {
    std::cerr << "bench_all_reduce: " << bench::printable(error.what()) << "\n";
    return 2;
  } catch (const bench::WriteError& error) {
    std::cerr << "bench_all_reduce: " << bench::printable(error.what()) << "\n";
    return kWriteFailed;
  } catch (const std::exception& error) {
    std::cerr << "bench_all_reduce: " << bench::printable(error.what()) << "\n";
    return 1;
  }
}
