// Checks cuDNN's description of a convolution with its epilogue in one graph: computes it operation
// by operation and compares it with the problem. Also checks cuDNN's engines for such graphs.

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

constexpr auto kRelu = ActivationKind::relu;
constexpr std::array kFused{Epilogue{.bias = true}, Epilogue{.bias = true, .activation = kRelu},
                            Epilogue{.bias = true, .residual = true},
                            Epilogue{.bias = true, .residual = true, .activation = kRelu}};

/// The inputs of a launch.
struct Given {
  Tensors tensors;
  std::vector<double> bias;
  std::vector<double> residual;
};

Given draw_given(const ConvolutionProblem& problem) {
  return {.tensors = draw_tensors(problem),
          .bias = draw_whole_numbers(problem.y[1], 11),
          .residual = draw_whole_numbers(elements(problem.y), 12)};
}

std::vector<double> expected_with_epilogue(const ConvolutionProblem& problem, const Given& given) {
  std::vector<double> y = expected(problem, given.tensors);
  const Extents& extents = problem.y;
  for (std::int64_t n = 0; n < extents[0]; ++n) {
    for (std::int64_t c = 0; c < extents[1]; ++c) {
      for (std::int64_t h = 0; h < extents[2]; ++h) {
        for (std::int64_t w = 0; w < extents[3]; ++w) {
          const std::size_t at = place(extents, problem.order, {n, c, h, w});
          double& element = y.at(at);
          element += given.bias.at(static_cast<std::size_t>(c));
          if (problem.epilogue.residual) {
            element += given.residual.at(at);
          }
          if (problem.epilogue.activation == kRelu) {
            element = std::max(element, 0.0);
          }
        }
      }
    }
  }
  return y;
}

/// The result of the graph, whose tensors in memory are found by id. Empty if the graph accesses
/// memory outside of them.
std::optional<std::vector<double>> compute_graph(const nlohmann::json& graph, const Given& given) {
  Memories memories{{1, given.tensors[0]},
                    {2, given.tensors[1]},
                    {3, given.tensors[2]},
                    {kBiasTensor, given.bias},
                    {kResidualTensor, given.residual}};
  return run_graph(graph, memories) ? std::optional(memories.at(3)) : std::nullopt;
}

/// The conformance suite's convolutions with each epilogue that is computed in one graph.
std::vector<Case> fused_cases() {
  std::vector<Case> result;
  for (const Order order : kOrders) {
    for (Case& one : cases_of(order, Pass::forward)) {
      for (const Epilogue& epilogue : kFused) {
        one.problem.epilogue = epilogue;
        result.push_back(one);
      }
    }
  }
  return result;
}

bool has_engines(Convolutions& convolutions, const ConvolutionProblem& problem) {
  return !convolutions.choices(problem).empty();
}

TEST(ConvolutionEpilogue, IsDescribedToCudnnAsRequested) {
  const auto convolutions = make_cudnn_convolutions(properties_of("sm_90").value(), true);
  int compared = 0;
  for (const auto& [name, problem] : fused_cases()) {
    if (!has_engines(*convolutions, problem)) {
      continue;
    }
    const nlohmann::json graph = told_graph(problem);
    const Given given = draw_given(problem);
    const auto result = compute_graph(graph, given);
    ASSERT_TRUE(result) << name;
    EXPECT_EQ(*result, expected_with_epilogue(problem, given)) << name << problem.epilogue;
    ++compared;
  }
  EXPECT_GT(compared, 300);
}

TEST(ConvolutionEpilogue, KeepsIntermediateTensorsInF32AndOutOfMemory) {
  for (const DType dtype : kTypes) {
    ConvolutionProblem problem = cases_of(Order::nhwc, Pass::forward).front().problem;
    problem.dtype = dtype;
    problem.epilogue = kFused.back();
    const nlohmann::json graph = told_graph(problem);
    const std::string type = told_tensor(graph, "1").type;
    int between = 0;
    for (const nlohmann::json& tensor : graph.at("tensors")) {
      const bool outside = tensor.at("isVirtual").get<bool>();
      between += outside ? 1 : 0;
      EXPECT_EQ(tensor.at("dataType"), outside ? "CUDNN_DATA_FLOAT" : type) << tensor;
    }
    EXPECT_EQ(between, 3);
    for (const nlohmann::json& node : graph.at("nodes")) {
      EXPECT_EQ(node.at("mathPrec"), "CUDNN_DATA_FLOAT");
    }
  }
}

struct GraphFault {
  const char* name;
  std::function<void(nlohmann::json& graph)> plant;
};

nlohmann::json& tensor_of(nlohmann::json& graph, const std::string& name) {
  for (nlohmann::json& tensor : graph.at("tensors")) {
    if (tensor.at("name") == name) {
      return tensor;
    }
  }
  throw InternalError(fmt::format("no tensor {}", name));
}

TEST(ConvolutionEpilogue, EveryPlantedFaultIsFoundByTheComparison) {
  // In a graph of a convolution, residual, bias and ReLU.
  const std::vector<GraphFault> faults{
      {"no bias", [](nlohmann::json& graph) { graph["nodes"][2]["alpha2"] = 0.0; }},
      {"no residual", [](nlohmann::json& graph) { graph["nodes"][1]["alpha2"] = 0.0; }},
      {"the sum twice", [](nlohmann::json& graph) { graph["nodes"][1]["alpha1"] = 2.0; }},
      {"the residual again for the bias",
       [](nlohmann::json& graph) { graph["nodes"][2]["B"] = "5"; }},
      {"the bias again for the residual",
       [](nlohmann::json& graph) { graph["nodes"][1]["B"] = "4"; }},
      {"ReLU of the convolution alone",
       [](nlohmann::json& graph) { graph["nodes"][3]["X"] = graph["nodes"][0]["Y"]; }},
      {"ReLU before the bias",
       [](nlohmann::json& graph) { graph["nodes"][3]["X"] = graph["nodes"][1]["Y"]; }},
      {"no ReLU", [](nlohmann::json& graph) { graph["nodes"][3]["lowerClip"] = -1e30; }},
      {"ReLU6", [](nlohmann::json& graph) { graph["nodes"][3]["upperClip"] = 6.0; }},
      {"the residual by columns",
       [](nlohmann::json& graph) {
         auto& strides = tensor_of(graph, "5")["stride"];
         std::swap(strides[2], strides[3]);
       }},
      {"y by columns",
       [](nlohmann::json& graph) {
         auto& strides = tensor_of(graph, "3")["stride"];
         std::swap(strides[2], strides[3]);
       }},
      {"one element of the bias for all",
       [](nlohmann::json& graph) { tensor_of(graph, "4")["stride"][1] = 0; }},
  };
  for (const Order order : kOrders) {
    ConvolutionProblem problem{
        .order = order,
        .x = {2, 16, 6, 7},
        .filter = {24, 16, 3, 3},
        .y = {2, 24, 6, 7},
        .window = {.kernel = {3, 3}, .pad_before = {1, 1}, .pad_after = {1, 1}},
        .epilogue = kFused.back()};
    const Given given = draw_given(problem);
    const std::vector<double> right = expected_with_epilogue(problem, given);
    const nlohmann::json graph = told_graph(problem);
    EXPECT_EQ(compute_graph(graph, given), right);
    for (const GraphFault& fault : faults) {
      nlohmann::json wrong = graph;
      fault.plant(wrong);
      EXPECT_NE(compute_graph(wrong, given), right) << fault.name;
    }
  }
}

TEST(ConvolutionEpilogue, HasEnginesOnTensorCoresWhereThePlainConvolutionHas) {
  // Layers of ResNet-50: a projection, the last convolution of a block, and a 3x3 convolution.
  for (const char* chip : {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"}) {
    const DeviceProperties device = properties_of(chip).value();
    const auto convolutions = make_cudnn_convolutions(device, false);
    for (const DType dtype : {DType::f16, DType::bf16}) {
      if (dtype == DType::bf16 && device.capability < 80) {
        continue;
      }
      for (const std::int64_t kernel : {1, 3}) {
        ConvolutionProblem problem{.dtype = dtype,
                                   .x = {64, 64, 56, 56},
                                   .filter = {256, 64, kernel, kernel},
                                   .y = {64, 256, 56, 56},
                                   .window = {.kernel = {kernel, kernel},
                                              .pad_before = {kernel / 2, kernel / 2},
                                              .pad_after = {kernel / 2, kernel / 2}}};
        for (const Epilogue& epilogue : kFused) {
          problem.epilogue = epilogue;
          const auto choices = convolutions->choices(problem);
          EXPECT_TRUE(std::ranges::any_of(choices, &ConvolutionChoice::tensor_cores))
              << chip << " " << name_of(dtype) << " " << kernel << epilogue;
        }
      }
    }
  }
}

TEST(ConvolutionEpilogue, IsNotOfferedIfNoReadyEngineIsFast) {
  const auto convolutions = make_cudnn_convolutions(properties_of("sm_90").value(), true);
  ConvolutionProblem problem = cases_of(Order::nhwc, Pass::forward).front().problem;
  for (const Epilogue& epilogue : {Epilogue{.activation = kRelu}, Epilogue{.residual = true},
                                   Epilogue{.bias = true, .activation = ActivationKind::relu6},
                                   Epilogue{.bias = true, .activation = ActivationKind::sigmoid}}) {
    problem.epilogue = epilogue;
    EXPECT_FALSE(has_engines(*convolutions, problem)) << epilogue;
    EXPECT_THROW(ConvolutionGraph(problem, nullptr), InternalError) << epilogue;
  }
}

}  // namespace
}  // namespace bench::cuda
