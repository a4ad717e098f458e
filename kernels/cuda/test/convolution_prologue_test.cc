// Checks cuDNN's description of a convolution that scales, shifts and activates its input, and of
// its filter gradient. Computes it operation by operation and compares it with the problem. Also
// checks cuDNN's engines for such graphs.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "kernels/cuda/cudnn/convolution_graph.h"
#include "kernels/cuda/cudnn/cudnn_convolutions.h"
#include "kernels/cuda/test/told_convolution.h"
#include "models/base/errors.h"

namespace bench::cuda {
namespace {

/// The inputs of a launch.
struct GivenBehind {
  Tensors tensors;
  std::vector<double> scale;
  std::vector<double> shift;
};

GivenBehind draw_given_behind(const ConvolutionProblem& problem) {
  return {.tensors = draw_tensors(problem),
          .scale = draw_whole_numbers(problem.x[1], 21),
          .shift = draw_whole_numbers(problem.x[1], 22)};
}

/// The results of a launch; statistics only in a forward pass.
struct ResultsBehind {
  std::vector<double> result;
  std::vector<double> sums;
  std::vector<double> squares;
  bool operator==(const ResultsBehind&) const = default;
};

template <class Act>
void for_each_index(const Extents& extents, const Act& act) {
  for (std::int64_t n = 0; n < extents[0]; ++n) {
    for (std::int64_t c = 0; c < extents[1]; ++c) {
      for (std::int64_t h = 0; h < extents[2]; ++h) {
        for (std::int64_t w = 0; w < extents[3]; ++w) {
          act({n, c, h, w});
        }
      }
    }
  }
}

ResultsBehind expected_with_prologue(const ConvolutionProblem& problem, GivenBehind given) {
  std::vector<double>& x = given.tensors.at(problem.pass == Pass::forward ? 0 : 1);
  for_each_index(problem.x, [&](const Extents& index) {
    const auto channel = static_cast<std::size_t>(index[1]);
    double& element = x.at(place(problem.x, problem.order, index));
    element = std::max(element * given.scale.at(channel) + given.shift.at(channel), 0.0);
  });
  ResultsBehind results{.result = expected(problem, given.tensors), .sums = {}, .squares = {}};
  if (problem.statistics) {
    results.sums.resize(static_cast<std::size_t>(problem.y[1]));
    results.squares.resize(static_cast<std::size_t>(problem.y[1]));
    for_each_index(problem.y, [&](const Extents& index) {
      const auto channel = static_cast<std::size_t>(index[1]);
      const double value = results.result.at(place(problem.y, problem.order, index));
      results.sums.at(channel) += value;
      results.squares.at(channel) += value * value;
    });
  }
  return results;
}

/// The result of the graph, whose tensors in memory are found by id. Empty if the graph accesses
/// memory outside of them.
std::optional<ResultsBehind> compute_behind(const nlohmann::json& graph,
                                            const ConvolutionProblem& problem,
                                            const GivenBehind& given) {
  Memories memories{{1, given.tensors[0]},
                    {2, given.tensors[1]},
                    {3, given.tensors[2]},
                    {kScaleTensor, given.scale},
                    {kShiftTensor, given.shift}};
  if (problem.statistics) {
    memories[kSumsTensor].resize(static_cast<std::size_t>(problem.y[1]));
    memories[kSquaresTensor].resize(static_cast<std::size_t>(problem.y[1]));
  }
  if (!run_graph(graph, memories)) {
    return std::nullopt;
  }
  return ResultsBehind{
      .result = memories.at(3), .sums = memories[kSumsTensor], .squares = memories[kSquaresTensor]};
}

/// The forward also has statistics: some cards have no engines without them.
ConvolutionProblem with_prologue(ConvolutionProblem problem) {
  problem.dtype = DType::f16;
  problem.prologue = true;
  problem.statistics = problem.pass == Pass::forward;
  return problem;
}

TEST(ConvolutionPrologue, IsDescribedToCudnnAsRequested) {
  const auto convolutions = make_cudnn_convolutions(properties_of("sm_90").value(), false);
  for (const Pass pass : {Pass::forward, Pass::filter}) {
    int compared = 0;
    for (const auto& [name, plain] : cases_of(Order::nhwc, pass)) {
      const ConvolutionProblem problem = with_prologue(plain);
      if (convolutions->choices(problem).empty()) {
        continue;
      }
      const GivenBehind given = draw_given_behind(problem);
      const auto results = compute_behind(told_graph(problem), problem, given);
      ASSERT_TRUE(results) << name;
      EXPECT_EQ(*results, expected_with_prologue(problem, given)) << name;
      ++compared;
    }
    EXPECT_GT(compared, 15);
  }
}

/// A convolution whose extents all differ.
ConvolutionProblem example_behind(Pass pass) {
  return with_prologue({.pass = pass,
                        .x = {2, 16, 6, 7},
                        .filter = {24, 16, 3, 3},
                        .y = {2, 24, 6, 7},
                        .window = {.kernel = {3, 3}, .pad_before = {1, 1}, .pad_after = {1, 1}}});
}

TEST(ConvolutionPrologue, IsInF16WithIntermediateTensorsOutOfMemory) {
  for (const Pass pass : {Pass::forward, Pass::filter}) {
    const nlohmann::json graph = told_graph(example_behind(pass));
    int between = 0;
    for (const nlohmann::json& tensor : graph.at("tensors")) {
      const std::string name = tensor.at("name");
      const bool statistics = std::stoll(name) == kSumsTensor || std::stoll(name) == kSquaresTensor;
      EXPECT_EQ(tensor.at("dataType"), statistics ? "CUDNN_DATA_FLOAT" : "CUDNN_DATA_HALF");
      between += tensor.at("isVirtual").get<bool>() ? 1 : 0;
    }
    EXPECT_EQ(between, 3);
    for (const nlohmann::json& node : graph.at("nodes")) {
      EXPECT_EQ(node.at("mathPrec"), "CUDNN_DATA_FLOAT");
    }
  }
}

struct PrologueFault {
  const char* name;
  std::function<void(nlohmann::json& graph)> plant;
};

void expect_found(Pass pass, const std::vector<PrologueFault>& faults) {
  const ConvolutionProblem problem = example_behind(pass);
  const GivenBehind given = draw_given_behind(problem);
  const ResultsBehind right = expected_with_prologue(problem, given);
  const nlohmann::json graph = told_graph(problem);
  EXPECT_EQ(compute_behind(graph, problem, given), right);
  for (const PrologueFault& fault : faults) {
    nlohmann::json wrong = graph;
    fault.plant(wrong);
    EXPECT_NE(compute_behind(wrong, problem, given), right) << fault.name;
  }
}

const std::vector<PrologueFault>& faults_of_a_prologue() {
  static const std::vector<PrologueFault> kFaults{
      {"scale and shift for one another",
       [](nlohmann::json& graph) { std::swap(graph["nodes"][0]["B"], graph["nodes"][1]["B"]); }},
      {"the scale added",
       [](nlohmann::json& graph) { graph["nodes"][0]["pointwiseMode"] = "CUDNN_POINTWISE_ADD"; }},
      {"the shift multiplied",
       [](nlohmann::json& graph) { graph["nodes"][1]["pointwiseMode"] = "CUDNN_POINTWISE_MUL"; }},
      {"no ReLU", [](nlohmann::json& graph) { graph["nodes"][3]["X"] = "11"; }},
      {"no shift", [](nlohmann::json& graph) { graph["nodes"][2]["X"] = "10"; }},
      {"one scale for all channels",
       [](nlohmann::json& graph) { told_tensor_in(graph, "8")["stride"][1] = 0; }},
      {"the shift of every other channel",
       [](nlohmann::json& graph) { told_tensor_in(graph, "9")["stride"][1] = 2; }},
      {"what is between by columns",
       [](nlohmann::json& graph) {
         auto& strides = told_tensor_in(graph, "11")["stride"];
         std::swap(strides[2], strides[3]);
       }},
      {"after the convolution",
       [](nlohmann::json& graph) { std::swap(graph["nodes"][2], graph["nodes"][3]); }},
  };
  return kFaults;
}

TEST(ConvolutionPrologue, EveryPlantedFaultOfTheForwardIsFoundByTheComparison) {
  std::vector<PrologueFault> faults = faults_of_a_prologue();
  faults.push_back(
      {"x itself is read", [](nlohmann::json& graph) { graph["nodes"][3]["X"] = "1"; }});
  faults.push_back(
      {"statistics of what is read", [](nlohmann::json& graph) { graph["nodes"][4]["X"] = "12"; }});
  faults.push_back({"sums and squares for one another", [](nlohmann::json& graph) {
                      std::swap(graph["nodes"][4]["Sum"], graph["nodes"][4]["SqSum"]);
                    }});
  expect_found(Pass::forward, faults);
}

TEST(ConvolutionPrologue, EveryPlantedFaultOfTheFilterGradientIsFoundByTheComparison) {
  std::vector<PrologueFault> faults = faults_of_a_prologue();
  faults.push_back(
      {"x itself is read", [](nlohmann::json& graph) { graph["nodes"][3]["X"] = "2"; }});
  faults.push_back({"of dy", [](nlohmann::json& graph) { graph["nodes"][0]["X"] = "1"; }});
  expect_found(Pass::filter, faults);
}

/// The same convolution with an x that already includes its padding zeros.
ConvolutionProblem padded_before(const ConvolutionProblem& problem) {
  ConvolutionProblem padded = problem;
  for (const std::size_t axis : {0U, 1U}) {
    padded.x.at(2 + axis) += problem.window.pad_before.at(axis) + problem.window.pad_after.at(axis);
  }
  padded.window.pad_before = {};
  padded.window.pad_after = {};
  return padded;
}

GivenBehind padded_before(const ConvolutionProblem& problem, const GivenBehind& given) {
  const ConvolutionProblem padded = padded_before(problem);
  const std::size_t position = problem.pass == Pass::forward ? 0 : 1;
  GivenBehind result = given;
  std::vector<double>& x = result.tensors.at(position);
  x.assign(static_cast<std::size_t>(padded.x[0] * padded.x[1] * padded.x[2] * padded.x[3]), 0);
  for_each_index(problem.x, [&](const Extents& index) {
    const Extents moved{index[0], index[1], index[2] + problem.window.pad_before[0],
                        index[3] + problem.window.pad_before[1]};
    x.at(place(padded.x, padded.order, moved)) =
        given.tensors.at(position).at(place(problem.x, problem.order, index));
  });
  return result;
}

// Padding applies to the tensor that is read: it is 0 whatever the shift is.
TEST(ConvolutionPrologue, PaddingThatIsNormalisedIsFoundByTheComparison) {
  for (const Pass pass : {Pass::forward, Pass::filter}) {
    const ConvolutionProblem problem = example_behind(pass);
    const ConvolutionProblem padded = padded_before(problem);
    const nlohmann::json graph = told_graph(padded);
    GivenBehind given = draw_given_behind(problem);
    const auto wrong = compute_behind(graph, padded, padded_before(problem, given));
    ASSERT_TRUE(wrong);
    EXPECT_NE(*wrong, expected_with_prologue(problem, given));
    // Shifts below 0 leave zeros unchanged, because of ReLU.
    for (double& shift : given.shift) {
      shift = std::min(shift, 0.0);
    }
    const auto right = compute_behind(graph, padded, padded_before(problem, given));
    ASSERT_TRUE(right);
    EXPECT_EQ(*right, expected_with_prologue(problem, given));
  }
}

/// Layers of ResNet-50 at half its batch.
ConvolutionProblem resnet_layer_behind(Pass pass, std::int64_t kernel) {
  return with_prologue({.pass = pass,
                        .x = {128, 64, 56, 56},
                        .filter = {256, 64, kernel, kernel},
                        .y = {128, 256, 56, 56},
                        .window = {.kernel = {kernel, kernel},
                                   .pad_before = {kernel / 2, kernel / 2},
                                   .pad_after = {kernel / 2, kernel / 2}}});
}

TEST(ConvolutionPrologue, HasReadyEnginesOnSomeCards) {
  for (const auto& [chip, engines] :
       {std::pair{"sm_75", false}, std::pair{"sm_80", true}, std::pair{"sm_86", true},
        std::pair{"sm_89", false}, std::pair{"sm_90", true}, std::pair{"sm_100", false},
        std::pair{"sm_120", false}}) {
    const auto convolutions = make_cudnn_convolutions(properties_of(chip).value(), false);
    for (const Pass pass : {Pass::forward, Pass::filter}) {
      for (const std::int64_t kernel : {1, 3}) {
        const auto choices = convolutions->choices(resnet_layer_behind(pass, kernel));
        EXPECT_EQ(!choices.empty(), engines) << chip << " " << kernel;
        // The sums that the forward adds do not repeat.
        EXPECT_TRUE(std::ranges::all_of(choices, [&](const ConvolutionChoice& choice) {
          return choice.deterministic == (pass == Pass::filter);
        }));
      }
    }
  }
}

TEST(ConvolutionPrologue, IsOfferedOnlyInF16AndNhwcWithoutGroups) {
  const auto convolutions = make_cudnn_convolutions(properties_of("sm_90").value(), true);
  const auto expect_none = [&](const ConvolutionProblem& problem) {
    EXPECT_TRUE(convolutions->choices(problem).empty());
    EXPECT_THROW(ConvolutionGraph(problem, nullptr), InternalError);
  };
  for (const Pass pass : {Pass::forward, Pass::filter}) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      for (const Order order : kOrders) {
        ConvolutionProblem problem = resnet_layer_behind(pass, 1);
        problem.dtype = dtype;
        problem.order = order;
        if (dtype == DType::f16 && order == Order::nhwc) {
          EXPECT_FALSE(convolutions->choices(problem).empty());
        } else {
          expect_none(problem);
        }
      }
    }
    ConvolutionProblem grouped = resnet_layer_behind(pass, 3);
    grouped.groups = 2;
    grouped.filter[1] = 32;
    expect_none(grouped);
  }
  expect_none(resnet_layer_behind(Pass::data, 1));
  ConvolutionProblem without_statistics = resnet_layer_behind(Pass::forward, 1);
  without_statistics.statistics = false;
  expect_none(without_statistics);
}

}  // namespace
}  // namespace bench::cuda
