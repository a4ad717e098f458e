// Checks cuDNN's description of a convolution with the statistics of its result: computes it
// operation by operation and compares it with the problem. Also checks cuDNN's engines for such
// graphs.

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

/// The results of a launch.
struct Results {
  std::vector<double> y;
  std::vector<double> sums;
  std::vector<double> squares;
  bool operator==(const Results&) const = default;
};

Results expected_with_statistics(const ConvolutionProblem& problem, const Tensors& tensors) {
  const auto channels = static_cast<std::size_t>(problem.y[1]);
  Results results{.y = expected(problem, tensors),
                  .sums = std::vector<double>(channels),
                  .squares = std::vector<double>(channels)};
  const auto [batch, filters, height, width] = problem.y;
  for (std::int64_t n = 0; n < batch; ++n) {
    for (std::int64_t c = 0; c < filters; ++c) {
      for (std::int64_t h = 0; h < height; ++h) {
        for (std::int64_t w = 0; w < width; ++w) {
          const double value = results.y.at(place(problem.y, problem.order, {n, c, h, w}));
          results.sums.at(static_cast<std::size_t>(c)) += value;
          results.squares.at(static_cast<std::size_t>(c)) += value * value;
        }
      }
    }
  }
  return results;
}

/// The result of the graph, whose tensors are found by id. Empty if the graph accesses memory
/// outside of them.
std::optional<Results> compute_graph(const nlohmann::json& graph, const ConvolutionProblem& problem,
                                     const Tensors& tensors) {
  const std::vector<double> per_channel(static_cast<std::size_t>(problem.y[1]));
  Memories memories{{1, tensors[0]},
                    {2, tensors[1]},
                    {3, tensors[2]},
                    {kSumsTensor, per_channel},
                    {kSquaresTensor, per_channel}};
  if (!run_graph(graph, memories)) {
    return std::nullopt;
  }
  return Results{.y = memories.at(3),
                 .sums = memories.at(kSumsTensor),
                 .squares = memories.at(kSquaresTensor)};
}

ConvolutionProblem with_statistics(ConvolutionProblem problem) {
  problem.dtype = DType::f16;
  problem.statistics = true;
  return problem;
}

TEST(ConvolutionStatistics, AreDescribedToCudnnAsRequested) {
  const auto convolutions = make_cudnn_convolutions(properties_of("sm_90").value(), false);
  int compared = 0;
  for (const auto& [name, plain] : cases_of(Order::nhwc, Pass::forward)) {
    const ConvolutionProblem problem = with_statistics(plain);
    if (convolutions->choices(problem).empty()) {
      continue;
    }
    const Tensors tensors = draw_tensors(problem);
    const auto result = compute_graph(told_graph(problem), problem, tensors);
    ASSERT_TRUE(result) << name;
    EXPECT_EQ(*result, expected_with_statistics(problem, tensors)) << name;
    ++compared;
  }
  EXPECT_GT(compared, 15);
}

/// A convolution whose extents all differ.
ConvolutionProblem example() {
  return with_statistics({.x = {2, 16, 6, 7},
                          .filter = {24, 16, 3, 3},
                          .y = {2, 24, 6, 7},
                          .window = {.kernel = {3, 3}, .pad_before = {1, 1}, .pad_after = {1, 1}}});
}

TEST(ConvolutionStatistics, AreSummedAndKeptInF32) {
  const nlohmann::json graph = told_graph(example());
  for (const nlohmann::json& tensor : graph.at("tensors")) {
    const std::string name = tensor.at("name");
    const bool statistics = std::stoll(name) == kSumsTensor || std::stoll(name) == kSquaresTensor;
    EXPECT_EQ(tensor.at("dataType"), statistics ? "CUDNN_DATA_FLOAT" : "CUDNN_DATA_HALF") << tensor;
    EXPECT_FALSE(tensor.at("isVirtual").get<bool>()) << tensor;
  }
  for (const nlohmann::json& node : graph.at("nodes")) {
    EXPECT_EQ(node.at("mathPrec"), "CUDNN_DATA_FLOAT");
  }
}

TEST(ConvolutionStatistics, EveryPlantedFaultIsFoundByTheComparison) {
  struct PlantedFault {
    const char* name;
    std::function<void(nlohmann::json& graph)> plant;
  };
  const std::vector<PlantedFault> faults{
      {"sums and squares for one another",
       [](nlohmann::json& graph) {
         std::swap(graph["nodes"][1]["Sum"], graph["nodes"][1]["SqSum"]);
       }},
      {"sums of x", [](nlohmann::json& graph) { graph["nodes"][1]["X"] = "1"; }},
      {"both into one", [](nlohmann::json& graph) { graph["nodes"][1]["SqSum"] = "6"; }},
      {"one sum for all channels",
       [](nlohmann::json& graph) { told_tensor_in(graph, "6")["stride"][1] = 0; }},
      {"squares of every other channel",
       [](nlohmann::json& graph) { told_tensor_in(graph, "7")["stride"][1] = 2; }},
      {"y by columns",
       [](nlohmann::json& graph) {
         auto& strides = told_tensor_in(graph, "3")["stride"];
         std::swap(strides[2], strides[3]);
       }},
      {"before the convolution",
       [](nlohmann::json& graph) { std::swap(graph["nodes"][0], graph["nodes"][1]); }},
  };
  const ConvolutionProblem problem = example();
  const Tensors tensors = draw_tensors(problem);
  const Results right = expected_with_statistics(problem, tensors);
  const nlohmann::json graph = told_graph(problem);
  EXPECT_EQ(compute_graph(graph, problem, tensors), right);
  for (const PlantedFault& fault : faults) {
    nlohmann::json wrong = graph;
    fault.plant(wrong);
    EXPECT_NE(compute_graph(wrong, problem, tensors), right) << fault.name;
  }
}

/// A layer of ResNet-50.
ConvolutionProblem layer_of_resnet(std::int64_t kernel) {
  return with_statistics({.x = {64, 64, 56, 56},
                          .filter = {256, 64, kernel, kernel},
                          .y = {64, 256, 56, 56},
                          .window = {.kernel = {kernel, kernel},
                                     .pad_before = {kernel / 2, kernel / 2},
                                     .pad_after = {kernel / 2, kernel / 2}}});
}

TEST(ConvolutionStatistics, HaveReadyEnginesOnSomeCards) {
  struct Card {
    const char* chip;
    bool engines;
  };
  for (const Card& card :
       {Card{"sm_75", false}, Card{"sm_80", true}, Card{"sm_86", true}, Card{"sm_89", false},
        Card{"sm_90", true}, Card{"sm_100", true}, Card{"sm_120", false}}) {
    const auto convolutions = make_cudnn_convolutions(properties_of(card.chip).value(), false);
    for (const std::int64_t kernel : {1, 3}) {
      const auto choices = convolutions->choices(layer_of_resnet(kernel));
      EXPECT_EQ(!choices.empty(), card.engines) << card.chip << " " << kernel;
      EXPECT_TRUE(std::ranges::none_of(choices, &ConvolutionChoice::deterministic));
    }
  }
}

TEST(ConvolutionStatistics, AreOfferedOnlyInF16AndNhwc) {
  const auto convolutions = make_cudnn_convolutions(properties_of("sm_90").value(), true);
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const Order order : kOrders) {
      ConvolutionProblem problem = layer_of_resnet(1);
      problem.dtype = dtype;
      problem.order = order;
      const bool offered = dtype == DType::f16 && order == Order::nhwc;
      EXPECT_EQ(!convolutions->choices(problem).empty(), offered);
      if (!offered) {
        EXPECT_THROW(ConvolutionGraph(problem, nullptr), InternalError);
      }
    }
  }
  // ResNet-50's first convolution.
  const ConvolutionProblem stem = with_statistics(
      {.x = {64, 3, 224, 224},
       .filter = {64, 3, 7, 7},
       .y = {64, 64, 112, 112},
       .window = {.kernel = {7, 7}, .stride = {2, 2}, .pad_before = {3, 3}, .pad_after = {3, 3}}});
  EXPECT_TRUE(convolutions->choices(stem).empty());
}

}  // namespace
}  // namespace bench::cuda
