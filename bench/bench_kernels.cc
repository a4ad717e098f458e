// Times every case of kernels/cases on the CPU backend, forward, in each data format, with Google
// Benchmark: `bench_kernels --benchmark_filter=conv2d`.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>

#include "kernels/cases/cases.h"
#include "kernels/cpu/topology.h"
#include "kernels/executor.h"
#include "kernels/onednn/onednn_backend.h"
#include "models/base/errors.h"
#include "models/ir/op.h"

namespace bench {
namespace {

constexpr std::uint64_t kSeed = 1234;

/// The case's node alone, its inputs as graph inputs.
Graph graph_of(const KernelCase& kernel_case) {
  Graph graph;
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < kernel_case.inputs.size(); ++i) {
    inputs.push_back(graph.add_input(cat("in", i), kernel_case.inputs[i]));
  }
  graph.add_node(*kernel_case.op, kernel_case.name, kernel_case.attributes, inputs);
  return graph;
}

void write_inputs(const KernelCase& kernel_case, Executor& executor) {
  RandomStream random(kSeed);
  for (std::size_t i = 0; i < kernel_case.inputs.size(); ++i) {
    const TensorType& type = kernel_case.inputs[i];
    const auto values = draw(kernel_case.fills[i], type.shape.elements(), random);
    executor.write_input(cat("in", i), to_bytes(type.dtype, values));
  }
}

void run_case(benchmark::State& state, const KernelCase& kernel_case, DataFormat format,
              Backend& backend) {
  const Graph graph = graph_of(kernel_case);
  Executor executor(graph, backend, {.format = format});
  write_inputs(kernel_case, executor);
  const auto stream = backend.make_stream();
  for (auto _ : state) {
    executor.run(*stream);
  }
  const Work work = work_of(graph, graph.nodes()[0]);
  state.SetBytesProcessed(state.iterations() * work.bytes);
  if (work.multiply_adds > 0) {
    state.counters["FLOP/s"] =
        benchmark::Counter(static_cast<double>(2 * work.multiply_adds * state.iterations()),
                           benchmark::Counter::kIsRate);
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 2;
  }
  const auto backend = bench::make_onednn_backend(
      {.processors = bench::choose_processors(bench::discover_topology(), std::nullopt)});
  for (const bench::KernelCase& kernel_case : bench::all_cases()) {
    for (const auto format :
         {bench::DataFormat::nchw, bench::DataFormat::nhwc, bench::DataFormat::automatic}) {
      const std::string name = bench::cat(kernel_case.name, "/", bench::name_of(format));
      benchmark::RegisterBenchmark(
          name.c_str(), [&backend = *backend, kernel_case, format](benchmark::State& state) {
            bench::run_case(state, kernel_case, format, backend);
          });
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
