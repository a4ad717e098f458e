// Times single kernels with Google Benchmark: every case of kernels/cases, with --model every
// distinct step of a run of that model, or recurrent layers. See README.md in this folder.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <optional>

#include "bench/flags/flags.h"
#include "bench/flags/table.h"
#include "bench/kernels/lone_step.h"
#include "bench/kernels/rnn_timer.h"
#include "bench/plan/device.h"
#include "bench/plan/network.h"
#include "bench/plan/precision.h"
#include "bench/plan/resolve_settings.h"
#include "kernels/cases/cases.h"
#include "kernels/core_library.h"
#include "kernels/cpu/openmp_environment.h"
#include "kernels/executor.h"
#include "models/base/errors.h"
#include "models/base/text.h"
#include "models/ir/op.h"

namespace bench {
namespace {

constexpr std::uint64_t kSeed = 1234;
constexpr double kGiga = 1e9;

// The flags of bench that determine which kernels run and where. The first three also apply without
// --model.
constexpr std::array<std::string_view, 15> kFlags = {
    "data_format", "num_intra_threads", "device",
    "model",       "data_name",         "batch_size",
    "image_size",  "num_classes",       "forward_only",
    "dtype",       "aux_head",          "freeze_when_forward_only",
    "optimizer",   "label_smoothing",   "print_training_accuracy"};
constexpr std::size_t kFlagsOfCases = 3;
// Flags that `rnn` accepts.
constexpr std::array<std::string_view, 3> kRnnFlags = {"num_intra_threads", "device", "dtype"};

constexpr std::string_view kUsage =
    R"(bench_kernels: times single kernels with Google Benchmark.

Usage: bench_kernels [--data_format=NCHW|NHWC|auto] [--num_intra_threads=N] [--device=D]
         times every case of kernels/cases, forward
       bench_kernels --model=resnet50 [flags of bench]
         times every distinct step of a run of bench with these flags, forward and backward: )";

constexpr std::string_view kRnnUsage = R"(
       bench_kernels rnn [--dtype=f32|bf16|f16] [--num_intra_threads=N] [--device=D]
         times the recurrent layers of DeepBench as one op and step by step; all of them take long,
         so select some: --benchmark_filter=lstm/h512
)";

constexpr std::string_view kGoogleUsage = R"(
Without --data_format, it times every format. It also accepts the flags of Google Benchmark:
  --benchmark_list_tests, --benchmark_filter=REGEX, --benchmark_min_time=SECONDS,
  --benchmark_repetitions=N, --benchmark_format=console|json|csv, --benchmark_out=FILE
)";

/// Sets the rates of a kernel with this mean time, in billions per second.
void count_work(benchmark::State& state, const Work& work, double seconds) {
  if (work.bytes > 0) {
    state.counters["GB/s"] = static_cast<double>(work.bytes) / seconds / kGiga;
  }
  if (work.multiply_adds > 0) {
    state.counters["GFLOP/s"] = 2 * static_cast<double>(work.multiply_adds) / seconds / kGiga;
  }
}

/// Calls `run`, which returns the time of the kernel, and returns the mean time in seconds.
template <class Run>
double time_kernel(benchmark::State& state, const Work& work, const Run& run) {
  run();
  double seconds = 0;
  for (auto _ : state) {
    const double once = std::chrono::duration<double>(run()).count();
    state.SetIterationTime(once);
    seconds += once;
  }
  const double mean = seconds / static_cast<double>(state.iterations());
  count_work(state, work, mean);
  return mean;
}

/// A graph with only the case's node, whose inputs are graph inputs.
Graph graph_of(const KernelCase& kernel_case) {
  Graph graph;
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < kernel_case.inputs.size(); ++i) {
    inputs.push_back(graph.add_input(fmt::format("in{}", i), kernel_case.inputs[i]));
  }
  graph.add_node(*kernel_case.op, kernel_case.name, kernel_case.attributes, inputs);
  return graph;
}

void write_inputs(const KernelCase& kernel_case, Executor& executor) {
  RandomStream random(kSeed);
  for (std::size_t i = 0; i < kernel_case.inputs.size(); ++i) {
    const TensorType& type = kernel_case.inputs[i];
    const auto values = draw(kernel_case.fills[i], type.shape.elements(), random);
    executor.write_input(fmt::format("in{}", i), to_bytes(type.dtype, values));
  }
}

/// Runs all kernels of a run once. Times them by the device's events if it has separate memory,
/// because the host's clock would include launches and waits.
std::chrono::nanoseconds run_once(Executor& executor, const Backend& backend) {
  if (!backend.shares_host_memory()) {
    executor.enqueue_timed();
    executor.stream().synchronize();
    const auto times = executor.step_times();
    return times.empty() ? std::chrono::nanoseconds(0) : times.back().end - times.front().begin;
  }
  const auto begin = std::chrono::steady_clock::now();
  executor.run();
  return std::chrono::steady_clock::now() - begin;
}

void run_case(benchmark::State& state, const KernelCase& kernel_case, DataFormat format,
              Backend& backend) {
  const Graph graph = graph_of(kernel_case);
  try {
    Executor executor(graph, backend, {.format = format});
    write_inputs(kernel_case, executor);
    time_kernel(state, work_of(graph, graph.nodes()[0]),
                [&] { return run_once(executor, backend); });
  } catch (const UsageError& error) {
    state.SkipWithError(error.what());  // The device has no kernel for it.
  }
}

void register_cases(std::span<const DataFormat> formats, Backend& backend) {
  for (const KernelCase& kernel_case : all_cases()) {
    for (const DataFormat format : formats) {
      benchmark::RegisterBenchmark(fmt::format("{}/{}", kernel_case.name, name_of(format)).c_str(),
                                   [&backend, kernel_case, format](benchmark::State& state) {
                                     run_case(state, kernel_case, format, backend);
                                   })
          ->UseManualTime();
    }
  }
}

/// The distinct steps of a model's run in one data format, and their times.
class ModelSteps {
 public:
  ModelSteps(const RunSettings& settings, Backend& backend)
      : settings_(settings),
        backend_(backend),
        plan_(build_run_graph(settings, backend, settings.workload.batch), backend,
              settings.execution.lowering()),
        steps_(distinct_steps(plan_)) {}

  void register_all(std::size_t threads) {
    const std::string run =
        fmt::format("{}/{}/b{}/{}/{}/t{}", settings_.workload.model->name,
                    settings_.workload.training() ? "train" : "infer", settings_.workload.batch,
                    settings_.workload.int8 ? "int8" : name_of(settings_.workload.dtype),
                    name_of(settings_.execution.format), threads);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = plan_.lowered.steps[steps_[i].step];
      benchmark::RegisterBenchmark(
          fmt::format("{}/{}/{}/x{}", run, step.op, step.name, steps_[i].count).c_str(),
          [this, i](benchmark::State& state) { time_step(state, i); })
          ->UseManualTime();
    }
  }

  /// "auto: 12 of 30 kernels ran, 4.2 ms per step".
  void print_sum(std::ostream& out) const {
    double sum = 0;
    for (const auto& [index, seconds] : seconds_) {
      sum += seconds;
    }
    out << fmt::format("{}: {} of {} kernels ran and take {:g} ms of a step\n",
                       name_of(settings_.execution.format), seconds_.size(), steps_.size(),
                       1e3 * sum);
  }

 private:
  void time_step(benchmark::State& state, std::size_t index) {
    const DistinctStep& distinct = steps_[index];
    const Step& step = plan_.lowered.steps[distinct.step];
    if (lone_ == nullptr || lone_index_ != index) {
      lone_.reset();  // Frees its memory before the next step allocates.
      lone_ = std::make_unique<LoneStep>(plan_, distinct.step, backend_);
      lone_index_ = index;
    }
    const auto count = static_cast<double>(distinct.count);
    const double seconds = time_kernel(state, step.work, [&] { return lone_->run(); });
    state.counters["count"] = count;
    state.counters["ms/step"] = 1e3 * count * seconds;
    state.SetLabel(fmt::format("{} {}", step.implementation, distinct.shapes));
    seconds_[index] = count * seconds;
  }

  RunSettings settings_;
  Backend& backend_;
  Plan plan_;
  std::vector<DistinctStep> steps_;
  /// The current step: Google Benchmark calls several times until it has determined the iterations.
  std::unique_ptr<LoneStep> lone_;
  std::size_t lone_index_ = 0;
  std::map<std::size_t, double> seconds_;
};

/// The recurrent layers in one type. The layer that ran last is kept, because Google Benchmark
/// calls several times and because forward and backward need the same layer.
class RnnLayers {
 public:
  RnnLayers(Backend& backend, DType dtype) : backend_(backend), dtype_(dtype) {}

  void register_all() {
    for (const RnnLayerSize& size : inference_layers()) {
      register_layer(size, {RnnPhase::inference});
    }
    for (const RnnLayerSize& size : training_layers()) {
      register_layer(size, {RnnPhase::forward, RnnPhase::backward});
    }
  }

 private:
  void register_layer(const RnnLayerSize& size, std::initializer_list<RnnPhase> phases) {
    for (const RnnForm form : {RnnForm::fused, RnnForm::stepwise}) {
      if (form == RnnForm::stepwise && !has_stepwise_form(size.cell)) {
        continue;
      }
      for (const RnnPhase phase : phases) {
        const std::string name = fmt::format("{}/{}/{}/{}", name_of(size), name_of(dtype_),
                                             name_of(form), name_of(phase));
        benchmark::RegisterBenchmark(
            name.c_str(),
            [this, size, form, phase](benchmark::State& state) {
              try {
                time_layer(state, size, form, phase);
              } catch (const UsageError& error) {
                state.SkipWithError(error.what());  // The device has no kernel for it.
              }
            })
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
      }
    }
  }

  void time_layer(benchmark::State& state, const RnnLayerSize& size, RnnForm form, RnnPhase phase) {
    const bool training = phase != RnnPhase::inference;
    const std::string name = fmt::format("{} {} {}", name_of(size), name_of(form), training);
    if (name != timer_name_) {
      timer_name_.clear();
      timer_.reset();  // Frees its memory before the next layer allocates.
      timer_ = std::make_unique<RnnTimer>(size, form, training, dtype_, backend_);
      timer_name_ = name;
    }
    const Work work{.multiply_adds = timer_->multiply_adds(phase)};
    const double seconds = time_kernel(state, work, [&] { return timer_->run(phase); });
    if (!product_flops_) {
      product_flops_ = backend_.measure_product(dtype_);
    }
    if (product_flops_) {
      state.counters["% of matmul"] =
          100 * 2 * static_cast<double>(work.multiply_adds) / seconds / *product_flops_;
    }
    state.counters["us/step"] = 1e6 * seconds / static_cast<double>(size.steps);
    state.counters["MiB"] = static_cast<double>(timer_->memory_bytes()) / (1024.0 * 1024.0);
    state.SetLabel(timer_->implementation(phase));
  }

  Backend& backend_;
  DType dtype_;
  std::unique_ptr<RnnTimer> timer_;
  std::string timer_name_;
  /// The speed of a large matrix product, measured at the first layer.
  std::optional<double> product_flops_;
};

/// Rejects flags that require a whole run.
void check_flags(const ParseResult& parsed, bool rnn) {
  const bool model = parsed.given.contains("model") && !rnn;
  const std::span<const std::string_view> taken =
      rnn     ? std::span<const std::string_view>(kRnnFlags)
      : model ? std::span<const std::string_view>(kFlags)
              : std::span<const std::string_view>(kFlags).first(kFlagsOfCases);
  const std::string_view where = rnn ? " of rnn" : model ? "" : " without --model";
  for (const auto& [name, value] : parsed.given) {
    if (std::ranges::find(taken, name) == taken.end()) {
      throw UsageError(fmt::format("--{}: accepted flags{} are {} and Google Benchmark's", name,
                                   where, join(taken)));
    }
  }
}

std::vector<DataFormat> formats_of(const ParseResult& parsed, const Execution& execution) {
  if (parsed.given.contains("data_format")) {
    return {execution.format};
  }
  return {DataFormat::nchw, DataFormat::nhwc, DataFormat::automatic};
}

int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv, [] {
    std::cout << kUsage << "\n         " << join(kFlags) << kRnnUsage << kGoogleUsage;
  });
  const bool rnn = argc > 1 && std::string_view(argv[1]) == "rnn";
  if (rnn) {
    std::rotate(argv + 1, argv + 2, argv + argc);
    --argc;
  }
  const ParseResult parsed = parse_flags(argc, argv);
  check_flags(parsed, rnn);
  check_stacks(own_environment, stack_limit_bytes());
  RunSettings settings = resolve_settings(parsed);
  if (!settings.workload.batch_request.fixed()) {
    throw UsageError(fmt::format("--batch_size={}: must be one number", parsed.flags.batch_size));
  }
  const Device device = make_device(settings);
  choose_precision(settings.workload, *device.backend).apply(settings);
  const std::vector<DataFormat> formats = formats_of(parsed, settings.execution);
  benchmark::AddCustomContext("threads", fmt::format("{}", device.processors.size()));
  benchmark::AddCustomContext("isa", device.isa);
  benchmark::AddCustomContext(std::string(device.backend->name()), device.library_version);
  std::vector<std::unique_ptr<ModelSteps>> models;
  RnnLayers layers(*device.backend, settings.workload.dtype);
  if (parsed.given.contains("model")) {
    for (const DataFormat format : formats) {
      settings.execution.format = format;
      models.push_back(std::make_unique<ModelSteps>(settings, *device.backend));
      models.back()->register_all(device.processors.size());
    }
  } else if (rnn) {
    if (settings.workload.dtype == DType::f64) {
      throw UsageError("--dtype=f64: recurrent layers compute in f32, bf16 or f16");
    }
    layers.register_all();
  } else {
    register_cases(formats, *device.backend);
  }
  const std::size_t ran = benchmark::RunSpecifiedBenchmarks();
  benchmark::ClearRegisteredBenchmarks();
  for (const auto& model : models) {
    model->print_sum(std::cerr);
  }
  return ran > 0 ? 0 : 1;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  if (!bench::core_fits("bench_kernels")) {
    return 1;
  }
  bench::restart_with_short_waits(argv);
  try {
    return bench::run(argc, argv);
  } catch (const bench::UsageError& error) {
    std::cerr << "bench_kernels: " << bench::printable(error.what()) << "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "bench_kernels: " << bench::printable(error.what()) << "\n";
    return 1;
  }
}
