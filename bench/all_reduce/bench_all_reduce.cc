// Times how towers of one host add their gradients, by each algorithm. The sizes are those of a
// network or given ones. See README.md in this folder.

#include <algorithm>
#include <iostream>
#include <optional>

#include "bench/all_reduce/cases.h"
#include "bench/all_reduce/devices.h"
#include "bench/all_reduce/measure.h"
#include "bench/all_reduce/options.h"
#include "bench/all_reduce/report.h"
#include "kernels/core_library.h"
#include "kernels/cpu/openmp_environment.h"
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

int run(std::span<const std::string> words) {
  const AllReduceOptions options = read_options(words);
  if (options.help) {
    print_usage(std::cout);
    return 0;
  }
  std::optional<AtomicFile> file;
  if (!options.result_file.empty()) {
    file.emplace(options.result_file);
  }
  const AllReduceDevices devices = devices_of(options);
  std::string note;
  const auto specs = specs_of(options, note);
  if (!note.empty()) {
    std::cerr << "note: " << printable(note) << "\n";
  }
  const MeasureSettings settings{.names = names_of(options.towers),
                                 .specs = specs,
                                 .iters_per_step = options.iters_per_step,
                                 .warm_up = options.num_warmup_batches,
                                 .repetitions = options.num_batches,
                                 .bound = !options.on_gpus,
                                 .make_backend = devices.make};
  std::vector<CaseResult> results;
  for (const AllReduceCase& each : cases_of(options)) {
    std::cerr << fmt::format("{} bytes of {}, number of buffers: {}\n", each.bytes(),
                             name_of(each.dtype), each.elements.size());
    results.push_back(measure_case(settings, each));
  }
  if (options.result_file != "-") {
    std::cout << options.towers << " towers x " << devices.each << ", " << name_of(options.dtype)
              << ", medians of " << options.num_batches << " steps of " << options.iters_per_step
              << " all-reduces\n"
              << (options.on_gpus ? "" : describe_bound() + "\n")
              << table_of(results, options.towers);
    if (!options.model.empty() && specs.size() == 1) {
      print_steps(std::cout, results[0].specs[0], options.iters_per_step);
    }
  }
  if (file) {
    file->write(json_of(results, {.towers = options.towers,
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
    return bench::run(words);
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
