// Checks cuDNN's description of a convolution against the problem.

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "kernels/cuda/cudnn/convolution_graph.h"
#include "kernels/cuda/test/told_convolution.h"
#include "models/base/errors.h"

namespace bench::cuda {
namespace {

Told told_of(const ConvolutionProblem& problem) {
  const nlohmann::json graph = told_graph(problem);
  return told_convolution(graph, graph.at("nodes").at(0));
}

/// The result of a described convolution on a launch's tensors, found by id. Empty if it accesses
/// memory outside of them, or if y's extents do not match the window.
std::optional<std::vector<double>> compute(const Told& told, const Tensors& tensors) {
  Memories memories{{1, tensors[0]}, {2, tensors[1]}, {3, tensors[2]}};
  return convolve(told, memories) ? std::optional(memories.at(3)) : std::nullopt;
}

TEST(ConvolutionGraph, DescribesTheRequestedConvolutionToCudnn) {
  int compared = 0;
  for (const Pass pass : kPasses) {
    for (const Order order : kOrders) {
      for (const auto& [name, problem] : cases_of(order, pass)) {
        const Told told = told_of(problem);
        EXPECT_EQ(told.pass, pass);
        EXPECT_FALSE(told.flipped);
        EXPECT_EQ(told.alpha, 1);
        EXPECT_EQ(told.beta, 0);
        const Tensors tensors = draw_tensors(problem);
        const auto result = compute(told, tensors);
        ASSERT_TRUE(result) << name;
        EXPECT_EQ(*result, expected(problem, tensors)) << name;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 200);
}

TEST(ConvolutionGraph, GivesAllTensorsTheTypeOfTheProblemAndSumsInF32) {
  for (const auto& [dtype, type] : {std::pair{DType::f32, "CUDNN_DATA_FLOAT"},
                                    {DType::f16, "CUDNN_DATA_HALF"},
                                    {DType::bf16, "CUDNN_DATA_BFLOAT16"}}) {
    for (const Pass pass : kPasses) {
      ConvolutionProblem problem = cases_of(Order::nhwc, pass).front().problem;
      problem.dtype = dtype;
      const Told told = told_of(problem);
      for (const ToldTensor* tensor : {&told.x, &told.filter, &told.y}) {
        EXPECT_EQ(tensor->type, type);
      }
      EXPECT_EQ(told.sums, "CUDNN_DATA_FLOAT");
    }
  }
}

/// A way to misdescribe the convolution to cuDNN.
struct Fault {
  const char* name;
  std::function<void(Told&)> plant;
};

TEST(ConvolutionGraph, EveryPlantedFaultIsFoundByTheComparison) {
  const std::vector<Fault> faults{
      {"paddings before and behind", [](Told& told) { std::swap(told.before, told.after); }},
      {"no padding behind",
       [](Told& told) {
         told.after = {0, 0};
       }},
      {"paddings of H and W", [](Told& told) { std::swap(told.before[0], told.before[1]); }},
      {"strides of H and W", [](Told& told) { std::swap(told.stride[0], told.stride[1]); }},
      {"no dilation",
       [](Told& told) {
         told.dilation = {1, 1};
       }},
      {"a flipped filter", [](Told& told) { told.flipped = true; }},
      {"x by columns", [](Told& told) { std::swap(told.x.strides[2], told.x.strides[3]); }},
      {"the filter by columns",
       [](Told& told) { std::swap(told.filter.strides[2], told.filter.strides[3]); }},
      {"the filter's channels outermost",
       [](Told& told) { std::swap(told.filter.strides[0], told.filter.strides[1]); }},
      {"y by columns", [](Told& told) { std::swap(told.y.strides[2], told.y.strides[3]); }},
      {"x and y for one another", [](Told& told) { std::swap(told.x.id, told.y.id); }},
      {"x and the filter for one another",
       [](Told& told) { std::swap(told.x.id, told.filter.id); }},
  };
  std::vector<int> found(kPasses.size() * faults.size());
  for (std::size_t pass = 0; pass < kPasses.size(); ++pass) {
    for (const Order order : kOrders) {
      for (const auto& [name, problem] : cases_of(order, kPasses.at(pass))) {
        const Tensors tensors = draw_tensors(problem);
        const std::vector<double> right = expected(problem, tensors);
        const Told told = told_of(problem);
        for (std::size_t fault = 0; fault < faults.size(); ++fault) {
          int& cases = found.at(pass * faults.size() + fault);
          if (cases == 0) {
            Told wrong = told;
            faults[fault].plant(wrong);
            cases += compute(wrong, tensors) == right ? 0 : 1;
          }
        }
      }
    }
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_GT(found[i], 0) << faults[i % faults.size()].name << ", pass " << i / faults.size();
  }
}

TEST(ConvolutionGraph, WrongExtentsAreRefused) {
  for (const Pass pass : kPasses) {
    for (const Order order : kOrders) {
      for (const std::size_t axis : {1U, 2U, 3U}) {
        ConvolutionProblem problem = cases_of(order, pass).front().problem;
        problem.y.at(axis) += 1;
        EXPECT_THROW(ConvolutionGraph(problem, nullptr), DeviceError) << axis;
      }
    }
  }
}

}  // namespace
}  // namespace bench::cuda
