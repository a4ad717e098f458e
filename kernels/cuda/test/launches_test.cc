// Compares the launches that plans report with those that the emulated runtime received.

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "kernels/cuda/test/gpu_ways.h"
#include "kernels/cuda/test/training_graph.h"
#include "kernels/gpu_emulator/libraries/emulated_backend.h"
#include "kernels/gpu_emulator/machine.h"
#include "kernels/runtime/lowering.h"
#include "kernels/test/case_runner.h"
#include "models/base/errors.h"
#include "models/ops/concat.h"
#include "models/ops/loss.h"
#include "models/ops/moving_average.h"

namespace bench {
namespace {

/// The kernels, fills and copies within the device of the last captured step. Other copies bring
/// results to the host.
std::int64_t recorded_launches() {
  cuda::emulator::Machine& machine = cuda::emulator::Machine::get();
  const std::lock_guard lock(machine.lock());
  const auto& nodes = machine.execs.back()->tasks->nodes;
  return std::ranges::count_if(
      nodes, [](const auto& node) { return node.task.name != "cudaMemcpyAsync"; });
}

/// Captures a run of the graph without running it.
struct Recorded {
  Recorded(const Graph& original, Backend& backend, DataFormat format)
      : executor(original, backend, {.format = format}) {
    const Graph& graph = executor.graph();
    for (const ValueId input : graph.inputs()) {
      const TensorType& type = graph.type(input);
      const std::vector<std::byte> zeros(static_cast<std::size_t>(type.shape.elements()) *
                                         size_of(type.dtype));
      executor.write_input(graph.value(input).name, zeros);
    }
    executor.record();
    launches = recorded_launches();
  }

  Executor executor;
  std::int64_t launches = 0;
};

/// Keeps candidate number `number` of each node, modulo their count. Records the largest count of
/// candidates.
class NumberedCandidates {
 public:
  explicit NumberedCandidates(std::size_t number) : number_(number) {}
  void operator()(const Node& /*node*/, std::vector<Candidate>& candidates) {
    most = std::max(most, candidates.size());
    Candidate kept = std::move(candidates[number_ % candidates.size()]);
    candidates.assign(1, std::move(kept));
  }
  std::size_t most = 0;

 private:
  std::size_t number_;
};

bool runs_on(const Backend& backend, const Graph& graph) {
  const Graph taken_apart = runnable(graph, backend);
  return std::ranges::all_of(taken_apart.nodes(), [&](const Node& node) {
    return backend.supports(taken_apart, node).yes;
  });
}

/// The launch counts of nodes, by op, over all cases in a type.
std::set<std::pair<std::string, int>> check_cases(DType dtype) {
  const auto backend = cuda::make_emulated_backend();
  std::set<std::pair<std::string, int>> seen;
  for (const KernelCase& one : cases_in(dtype)) {
    const Graph graph = case_graph(one, {.dtype = dtype});
    if (!runs_on(*backend, graph)) {
      continue;
    }
    for (const DataFormat format : {DataFormat::nchw, DataFormat::nhwc}) {
      std::size_t most = 1;
      for (std::size_t number = 0; number < most; ++number) {
        NumberedCandidates numbered(number);
        FilteringBackend one_each(*backend, std::ref(numbered));
        const Recorded recorded(graph, one_each, format);
        most = std::max(most, numbered.most);
        EXPECT_EQ(launches_of(recorded.executor.plan()), recorded.launches)
            << one.name << " in " << name_of(dtype) << "\n"
            << recorded.executor.plan();
        for (const Step& step : recorded.executor.plan().steps) {
          seen.emplace(step.op, step.launches);
        }
      }
    }
  }
  return seen;
}

TEST(Launches, EqualThePlannedNumberInEveryCase) {
  auto seen = check_cases(DType::f16);
  seen.merge(check_cases(DType::bf16));
  seen.merge(check_cases(DType::f32));
  // Every kind with a count other than 1 must occur.
  for (const auto& [op, launches] :
       std::vector<std::pair<std::string, int>>{{"conv2d", 1},
                                                {"conv2d", 2},
                                                {"conv2d", 3},
                                                {"conv2d", 4},
                                                {"conv2d_backward_weights", 3},
                                                {"batch_norm", 2},
                                                {"batch_norm_backward", 2},
                                                {"bias_backward", 2},
                                                {"softmax_cross_entropy", 2},
                                                {"top_k_accuracy", 2},
                                                {"l2_loss", 2},
                                                {"concat", 1},
                                                {"moving_average", 1},
                                                {"rnn", 2},
                                                {"rnn", 3},
                                                {"rnn_backward", 6},
                                                {"rnn_backward", 7},
                                                {"embedding_backward", 4},
                                                {"flatten", 1}}) {
    EXPECT_TRUE(seen.contains({op, launches})) << launches << " of " << op;
  }
}

TEST(Launches, EqualThePlannedNumberInANetwork) {
  const auto backend = cuda::make_emulated_backend();
  for (const char* model : {"resnet50_v1.5", "mobilenet", "lenet"}) {
    const Recorded recorded(training_graph(model, DType::f16, *backend), *backend,
                            DataFormat::nhwc);
    const LoweredGraph& plan = recorded.executor.plan();
    EXPECT_EQ(launches_of(plan), recorded.launches) << model;
    EXPECT_GT(recorded.launches, static_cast<std::int64_t>(plan.steps.size())) << model;
  }
}

TEST(Launches, AreZeroForAFlattenInPlace) {
  const auto backend = cuda::make_emulated_backend();
  const Recorded recorded(training_graph("lenet", DType::f32, *backend), *backend,
                          DataFormat::nchw);
  const LoweredGraph& plan = recorded.executor.plan();
  EXPECT_EQ(launches_of(plan), recorded.launches);
  const auto flatten = std::ranges::find(plan.steps, "flatten", &Step::op);
  ASSERT_NE(flatten, plan.steps.end());
  EXPECT_EQ(flatten->launches, 0);
}

/// A node of many vectors.
Graph graph_of_many(const OpDef& op, const Attributes& attributes, std::size_t inputs,
                    const Shape& shape) {
  Graph graph;
  std::vector<ValueId> values;
  for (std::size_t i = 0; i < inputs; ++i) {
    values.push_back(
        graph.add_input(fmt::format("in{}", i), {.dtype = DType::f32, .shape = shape}));
  }
  for (const ValueId output : graph.add_node(op, "node", attributes, values)) {
    graph.set_output(fmt::format("out{}", at(output)), output);
  }
  return graph;
}

TEST(Launches, AreSeveralForMoreTensorsThanOneKernelTakes) {
  const auto backend = cuda::make_emulated_backend();
  const auto expect = [&](const Graph& graph, int launches) {
    const Recorded recorded(graph, *backend, DataFormat::nhwc);
    EXPECT_EQ(launches_of(recorded.executor.plan()), launches);
    EXPECT_EQ(recorded.launches, launches);
  };
  expect(graph_of_many(kConcat, {}, 64, {1, 2, 3, 3}), 1);
  expect(graph_of_many(kConcat, {}, 65, {1, 2, 3, 3}), 2);
  expect(graph_of_many(kL2Loss, L2LossAttributes{}, 640, {4}), 2);
  expect(graph_of_many(kL2Loss, L2LossAttributes{}, 641, {4}), 3);
  const auto pairs = [](std::size_t count) {
    return MovingAverageAttributes{.pairs = std::vector<Averaging>(count)};
  };
  expect(graph_of_many(kMovingAverage, pairs(400), 800, {4}), 1);
  expect(graph_of_many(kMovingAverage, pairs(401), 802, {4}), 2);
}

}  // namespace
}  // namespace bench
