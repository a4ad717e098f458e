// A plan runs one candidate of each node. In a graph with a single node it never has a blocked
// layout, which would cost reorders. These tests run every candidate.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/cases/cases.h"
#include "kernels/cpu/topology.h"
#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "kernels/test/case_runner.h"
#include "kernels/test/conformance.h"
#include "models/base/errors.h"
#include "models/ops/quantized.h"
#include "models/passes/decompose.h"

namespace bench {
namespace {

constexpr int kPoison = 0xFF;

/// The type in which the candidates compute, and a case.
using CandidatesParameter = std::tuple<DType, KernelCase>;

std::string parameter_name(const testing::TestParamInfo<CandidatesParameter>& info) {
  return std::get<1>(info.param).name;
}

auto parameters(DType dtype) {
  return testing::Combine(testing::Values(dtype), testing::ValuesIn(cases_in(dtype)));
}

/// The case's graph in `dtype`, with those fused nodes decomposed that the backend would not run in
/// the type `asked_for`.
Graph runnable_graph(const KernelCase& kernel_case, DType asked_for, DType dtype,
                     const Backend& backend) {
  std::set<std::string> taken_apart;
  const auto parts = [&](DType type) {
    return decompose_unsupported(
        case_graph(kernel_case, {.dtype = type}), [&](const Graph&, const Node& node) {
          return Support{.yes = taken_apart.count(node.name) == 0, .why_not = ""};
        });
  };
  // A decomposed part may also contain unsupported nodes.
  for (bool more = true; more;) {
    const Graph asked = parts(asked_for);
    more = false;
    for (const Node& node : asked.nodes()) {
      more = (!backend.supports(asked, node) && taken_apart.insert(node.name).second) || more;
    }
  }
  return parts(dtype);
}

/// Every value of a graph in f64, computed by the reference from inputs that `dtype` represents;
/// opaque ones are empty.
std::vector<std::vector<double>> reference_values(const KernelCase& kernel_case, DType dtype,
                                                  Graph graph) {
  const std::size_t count = graph.values().size();
  const auto name = [](std::size_t i) { return fmt::format("value{}", i); };
  const auto id = [](std::size_t i) { return ValueId{static_cast<std::int32_t>(i)}; };
  for (std::size_t i = 0; i < count; ++i) {
    if (!graph.type(id(i)).opaque) {
      graph.set_output(name(i), id(i));
    }
  }
  const auto backend = make_reference_backend();
  GraphRunner runner(graph, *backend, DataFormat::automatic);
  const CaseData data = rounded(kernel_case, dtype, draw_case_data(kernel_case, test_seed()));
  for (std::size_t i = 0; i < data.inputs.size(); ++i) {
    runner.set(fmt::format("in{}", i), data.inputs[i]);
  }
  const auto inputs = graph.inputs();
  if (std::any_of(inputs.begin(), inputs.end(),
                  [&](ValueId input) { return graph.value(input).name == "dout0"; })) {
    runner.set("dout0", data.dout);
  }
  runner.run();
  std::vector<std::vector<double>> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!graph.type(id(i)).opaque) {
      values[i] = runner.output(name(i));
    }
  }
  return values;
}

class Candidates : public testing::TestWithParam<CandidatesParameter> {
 public:
  static void SetUpTestSuite() {
    backend() = make_onednn_backend(
        {.processors = choose_processors(discover_topology(), std::nullopt), .pin = false});
  }
  static void TearDownTestSuite() { backend().reset(); }

 protected:
  struct Memory {
    TensorType type;
    Layout layout;
    std::size_t bytes = 0;
    std::unique_ptr<DeviceMemory> memory;
    [[nodiscard]] TensorView view() const { return {.data = memory->data(), .bytes = bytes}; }
  };

  static std::unique_ptr<Backend>& backend() {
    static std::unique_ptr<Backend> made;
    return made;
  }

  static Memory allocate(const TensorType& type, const Layout& layout) {
    const std::size_t bytes = backend()->bytes(type, layout);
    Memory memory{
        .type = type, .layout = layout, .bytes = bytes, .memory = backend()->allocate(bytes)};
    std::memset(memory.memory->data(), kPoison, bytes);
    return memory;
  }

  static Memory reordered(const Memory& from, const TensorType& type, const Layout& layout) {
    Memory to = allocate(type, layout);
    const auto stream = backend()->make_stream();
    const std::vector inputs{from.view()};
    const std::vector outputs{to.view()};
    backend()
        ->make_reorder({.type = from.type, .layout = from.layout}, {.type = type, .layout = layout})
        ->launch(*stream, inputs, outputs, nullptr);
    stream->synchronize();
    return to;
  }

  static Memory written(const TensorType& type, const Layout& layout,
                        const std::vector<double>& values) {
    const Layout canonical = backend()->canonical_layout(type);
    const Memory memory = allocate(type, canonical);
    const std::vector<std::byte> bytes = to_bytes(type.dtype, values);
    std::copy(bytes.begin(), bytes.end(), memory.memory->data());
    return reordered(memory, type, layout == Layout::any() ? canonical : layout);
  }

  static std::vector<double> read(const Memory& memory) {
    const Memory canonical =
        reordered(memory, memory.type, backend()->canonical_layout(memory.type));
    return to_values(memory.type.dtype, {canonical.memory->data(), canonical.bytes});
  }

  /// The outputs of one candidate of a node.
  static std::vector<std::vector<double>> run(const Graph& graph, const Node& node,
                                              const Candidate& candidate,
                                              const std::vector<std::vector<double>>& values) {
    std::vector<Memory> memories;
    std::vector<TensorView> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId input = node.inputs[i];
      memories.push_back(written(graph.type(input), candidate.inputs[i], values[at(input)]));
      inputs.push_back(memories.back().view());
    }
    std::vector<Memory> results;
    std::vector<TensorView> outputs;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      results.push_back(allocate(graph.type(node.outputs[i]), candidate.outputs[i]));
      outputs.push_back(results.back().view());
    }
    const auto workspace = backend()->allocate(candidate.workspace_bytes + 1);
    std::memset(workspace->data(), kPoison, candidate.workspace_bytes);
    const auto stream = backend()->make_stream();
    candidate.make()->launch(*stream, inputs, outputs, workspace->data());
    stream->synchronize();
    std::vector<std::vector<double>> read_results;
    std::transform(results.begin(), results.end(), std::back_inserter(read_results), read);
    return read_results;
  }
};

INSTANTIATE_TEST_SUITE_P(Onednn, Candidates, parameters(DType::f32), parameter_name);
INSTANTIATE_TEST_SUITE_P(OnednnBf16, Candidates, parameters(DType::bf16), parameter_name);

TEST_P(Candidates, AllMatchTheReference) {
  const auto& [dtype, kernel_case] = GetParam();
  SCOPED_TRACE(fmt::format("BENCH_TEST_SEED={}", test_seed()));
  const auto values = reference_values(kernel_case, dtype,
                                       runnable_graph(kernel_case, dtype, DType::f64, *backend()));
  const Graph graph = runnable_graph(kernel_case, dtype, dtype, *backend());
  const auto opaque = [&](ValueId id) { return graph.type(id).opaque; };
  for (const Node& node : graph.nodes()) {
    // Opaque values can be neither written nor read here.
    if (std::any_of(node.inputs.begin(), node.inputs.end(), opaque) ||
        std::any_of(node.outputs.begin(), node.outputs.end(), opaque)) {
      continue;
    }
    // A processor may have no instructions for these types.
    const bool narrow = node.op == &kQuantizedConv2d || node.op == &kQuantizedFullyConnected ||
                        std::any_of(node.inputs.begin(), node.inputs.end(),
                                    [&](ValueId id) { return is_half(graph.type(id).dtype); });
    if (const Support support = backend()->supports(graph, node); narrow && !support) {
      GTEST_SKIP() << support.why_not;
    }
    for (const Candidate& candidate : backend()->candidates(graph, node, DataFormat::automatic)) {
      // Algorithms that multiply less are not exact.
      if (kernel_case.exact && candidate.multiply_adds) {
        continue;
      }
      const auto actual = run(graph, node, candidate, values);
      for (std::size_t i = 0; i < actual.size(); ++i) {
        // The previous node's result is rounded to 16 bits here, so sums in f32 differ too.
        const DType own = graph.type(node.outputs[i]).dtype;
        const Result result = node.op == kernel_case.op ? Result::output : Result::gradient;
        EXPECT_EQ(compare(kernel_case, kernel_case.exact ? own : dtype, result, actual[i],
                          values[at(node.outputs[i])]),
                  "")
            << node.name << " output " << i << ", " << candidate.implementation << " in "
            << candidate.outputs[i] << " from " << candidate.inputs[0];
      }
    }
  }
}

}  // namespace
}  // namespace bench
