// The engines that cuDNN offers on described cards, and what it must refuse.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "kernels/cuda/cublas/algorithm.h"
#include "kernels/cuda/cublas/cublas_products.h"
#include "kernels/cuda/cudnn/convolution_graph.h"
#include "kernels/cuda/cudnn/cudnn_convolutions.h"
#include "kernels/cuda/cudnn/engine_search.h"
#include "kernels/cuda/test/convolution_cases.h"
#include "models/base/errors.h"

namespace bench::cuda {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

DeviceProperties card(const char* chip) { return properties_of(chip).value(); }

TEST(DescribedCards, AreAllKnownToCudnn) {
  std::set<int> capabilities;
  for (const DeviceProperties& device : described_cards()) {
    EXPECT_TRUE(knows_capability(device.capability)) << device.name;
    EXPECT_NO_THROW(device_descriptor(device)) << device.name;
    EXPECT_GT(device.sheet.flops_per_second_16, device.sheet.flops_per_second_32) << device.name;
    EXPECT_TRUE(capabilities.insert(device.capability).second) << device.name;
  }
  EXPECT_EQ(capabilities.size(), 11U);
  EXPECT_FALSE(properties_of("sm_70"));
}

TEST(Convolutions, CardsOutsideOfCudnnsTableAreRefused) {
  for (const int capability : {50, 61, 70, 72, 130, 200}) {
    DeviceProperties device = card("sm_90");
    device.capability = capability;
    EXPECT_THROW(make_cudnn_convolutions(device, true), UsageError) << capability;
  }
}

TEST(Convolutions, EveryCaseHasEnginesOnOldAndNewCards) {
  for (const char* chip : {"sm_75", "sm_90", "sm_120"}) {
    const auto convolutions = make_cudnn_convolutions(card(chip), true);
    for (const DType dtype : kTypes) {
      if (dtype == DType::bf16 && card(chip).capability < 80) {
        continue;
      }
      for (const Pass pass : kPasses) {
        for (auto& [name, problem] : cases_of(Order::nhwc, pass)) {
          problem.dtype = dtype;
          const auto choices = convolutions->choices(problem);
          EXPECT_FALSE(choices.empty())
              << chip << " " << name << " " << name_of(dtype) << " " << static_cast<int>(pass);
          EXPECT_LE(choices.size(), 8U);
          std::set<std::string> names;
          for (const ConvolutionChoice& choice : choices) {
            EXPECT_TRUE(names.insert(choice.implementation).second) << choice.implementation;
          }
        }
      }
    }
  }
}

TEST(Convolutions, F32TakesNoTensorCoresUnlessTf32IsAllowed) {
  for (const auto& [tf32, wanted] : {std::pair{false, false}, {true, true}}) {
    const auto convolutions = make_cudnn_convolutions(card("sm_90"), tf32);
    bool any = false;
    for (const auto& [name, problem] : cases_of(Order::nhwc, Pass::forward)) {
      for (const ConvolutionChoice& choice : convolutions->choices(problem)) {
        any = any || choice.tensor_cores;
      }
    }
    EXPECT_EQ(any, wanted);
  }
}

/// The engines for the filter gradient of a layer with this padding after its pixels.
std::string engines_for(DType dtype, std::int64_t channels, std::int64_t groups,
                        std::int64_t pad_after) {
  constexpr std::int64_t kKernel = 7;
  const std::int64_t size = 32;
  const std::int64_t result = (size + 2 + pad_after - kKernel) / 2 + 1;
  const ConvolutionProblem problem{.pass = Pass::filter,
                                   .dtype = dtype,
                                   .x = {2, channels, size, size},
                                   .filter = {64, channels / groups, kKernel, kKernel},
                                   .y = {2, 64, result, result},
                                   .window = {.kernel = {kKernel, kKernel},
                                              .stride = {2, 2},
                                              .pad_before = {2, 2},
                                              .pad_after = {pad_after, pad_after}},
                                   .groups = groups};
  std::string names;
  for (const ConvolutionChoice& choice :
       make_cudnn_convolutions(card("sm_90"), false)->choices(problem)) {
    names += choice.implementation + " ";
  }
  return names;
}

TEST(Convolutions, AreNotRunByEnginesThatFailedTheConformanceSuite) {
  const auto wrong_padding = AnyOf(HasSubstr(":eng1_"), HasSubstr(":eng20_"));
  EXPECT_THAT(engines_for(DType::f32, 3, 1, 2), wrong_padding);
  EXPECT_THAT(engines_for(DType::f32, 3, 1, 3), AllOf(Not(IsEmpty()), Not(wrong_padding)));
  const auto sliced = ContainsRegex("_k0=([2-9]|1[0-9])");
  EXPECT_THAT(engines_for(DType::bf16, 3, 1, 3), AllOf(Not(IsEmpty()), Not(sliced)));
  EXPECT_THAT(engines_for(DType::f16, 64, 64, 2), AllOf(Not(IsEmpty()), Not(HasSubstr(":eng61_"))));
}

TEST(Convolutions, PlansOfOneProblemAreFoundOnceAndStayTheSame) {
  const auto convolutions = make_cudnn_convolutions(card("sm_80"), true);
  const ConvolutionProblem problem = cases_of(Order::nhwc, Pass::data).front().problem;
  const auto first = convolutions->choices(problem);
  const auto again = convolutions->choices(problem);
  const auto elsewhere = make_cudnn_convolutions(card("sm_80"), true)->choices(problem);
  ASSERT_EQ(first.size(), again.size());
  ASSERT_EQ(first.size(), elsewhere.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].implementation, again[i].implementation);
    EXPECT_EQ(first[i].implementation, elsewhere[i].implementation);
    EXPECT_EQ(first[i].workspace_bytes, elsewhere[i].workspace_bytes);
  }
}

/// The finalised plans of the heuristic's own configurations, in its order.
std::set<std::string> plans_of_the_heuristic(const Descriptor& graph, const Descriptor& device) {
  std::set<std::string> plans;
  for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristic.set_descriptor(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    heuristic.set_value(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
    heuristic.set_descriptor(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device);
    heuristic.finalize();
    for (const Descriptor& configuration : heuristic.descriptors(
             CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, 64)) {
      Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      plan.set_descriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
      plan.set_descriptor(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device);
      if (plan.try_finalize()) {
        plans.insert(plan.text(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION));
      }
    }
  }
  return plans;
}

TEST(EngineSearch, AnEngineAndItsKnobsMakeThePlanThatTheHeuristicMeant) {
  for (const char* chip : {"sm_75", "sm_90"}) {
    const Descriptor device = device_descriptor(card(chip));
    for (const Pass pass : kPasses) {
      const ConvolutionProblem problem{.pass = pass,
                                       .dtype = DType::f16,
                                       .x = {32, 64, 28, 28},
                                       .filter = {64, 64, 3, 3},
                                       .y = {32, 64, 26, 26},
                                       .window = {.kernel = {3, 3}}};
      const ConvolutionGraph graph(problem, nullptr);
      const std::set<std::string> meant = plans_of_the_heuristic(graph.graph, device);
      const auto engines = find_engines(graph.graph, {.device = &device}, wish_for(problem, false));
      EXPECT_FALSE(engines.empty());
      for (const EngineChoice& engine : engines) {
        const Descriptor plan = make_plan(graph.graph, engine, {.device = &device});
        EXPECT_TRUE(meant.contains(plan.text(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION)))
            << chip << " " << engine.name();
        EXPECT_EQ(workspace_bytes(plan), engine.workspace_bytes) << engine.name();
      }
      // A different knob value makes another plan, or no plan.
      EngineChoice other = engines.front();
      ASSERT_FALSE(other.knobs.empty());
      other.knobs.front().second += 1;
      try {
        const Descriptor plan = make_plan(graph.graph, other, {.device = &device});
        EXPECT_NE(plan.text(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION),
                  make_plan(graph.graph, engines.front(), {.device = &device})
                      .text(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION));
      } catch (const DeviceError&) {
      }
    }
  }
}

/// Engines for dw of another type than dy and x.
std::vector<EngineChoice> filter_gradient_engines(DType dtype, DType result, const char* chip) {
  const ConvolutionProblem problem = cases_of(Order::nhwc, Pass::filter).front().problem;
  Descriptor window(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  window.set_value(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  window.set_value(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
                   CUDNN_CROSS_CORRELATION);
  window.set_integer(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 2);
  window.set_integers(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, problem.window.pad_before);
  window.set_integers(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, problem.window.pad_after);
  window.set_integers(CUDNN_ATTR_CONVOLUTION_DILATIONS, problem.window.dilation);
  window.set_integers(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, problem.window.stride);
  window.finalize();
  Descriptor operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, window);
  operation.set_descriptor(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                           tensor_descriptor(2, dtype, problem.x, problem.order));
  operation.set_descriptor(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                           tensor_descriptor(3, result, problem.filter, problem.order));
  operation.set_descriptor(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                           tensor_descriptor(1, dtype, problem.y, problem.order));
  operation.set_float(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, 1);
  operation.set_float(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, 0);
  operation.finalize();
  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set_descriptor(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  graph.finalize();
  const Descriptor device = device_descriptor(card(chip));
  return find_engines(graph, {.device = &device}, wish_for(problem, true));
}

TEST(EngineSearch, NoEngineWritesAFilterGradientOf16BitsInF32) {
  // The reason why such gradients are widened after the convolution. If this fails, widening is no
  // longer needed.
  for (const char* chip : {"sm_80", "sm_90", "sm_100"}) {
    EXPECT_FALSE(filter_gradient_engines(DType::f16, DType::f16, chip).empty()) << chip;
    EXPECT_TRUE(filter_gradient_engines(DType::f16, DType::f32, chip).empty()) << chip;
    EXPECT_TRUE(filter_gradient_engines(DType::bf16, DType::f32, chip).empty()) << chip;
  }
}

TEST(Libraries, OtherVersionsAreRefused) {
  EXPECT_NO_THROW(check_cudnn_version());
  EXPECT_NO_THROW(check_cudnn_version(CUDNN_VERSION + 100));
  constexpr std::size_t kFirstPatch = CUDNN_VERSION / 100 * 100;
  EXPECT_NO_THROW(check_cudnn_version(kFirstPatch));
  EXPECT_THROW(check_cudnn_version(kFirstPatch - 1), UsageError);
  EXPECT_THROW(check_cudnn_version(CUDNN_VERSION - 100), UsageError);
  EXPECT_THROW(check_cudnn_version(CUDNN_VERSION - 10000), UsageError);
  try {
    check_cudnn_version(8907);
    FAIL() << "cuDNN 8 is taken";
  } catch (const UsageError& error) {
    const std::string built = fmt::format("{}.{}.{}", CUDNN_MAJOR, CUDNN_MINOR, CUDNN_PATCHLEVEL);
    EXPECT_EQ(error.what(), fmt::format("this program was built with cuDNN {} and needs {}.{} or a "
                                        "newer {}.x, but found cuDNN 8.9.7",
                                        built, CUDNN_MAJOR, CUDNN_MINOR, CUDNN_MAJOR));
  }
  EXPECT_THROW(check_cudnn_version(CUDNN_VERSION + 10000), UsageError);
  EXPECT_NO_THROW(check_cublas_version());
  EXPECT_THROW(check_cublas_version(120500), UsageError);
  EXPECT_THROW(check_cublas_version(140000), UsageError);
}

/// An algorithm with these settings, whether or not the library accepts it.
cublasLtMatmulAlgo_t algorithm_of(
    const std::vector<std::pair<cublasLtMatmulAlgoConfigAttributes_t, std::uint32_t>>& settings) {
  cublasLtMatmulAlgo_t algorithm = {};
  const auto set = [&](cublasLtMatmulAlgoConfigAttributes_t name, const auto& value) {
    check_cublas(cublasLtMatmulAlgoConfigSetAttribute(&algorithm, name, &value, sizeof(value)),
                 "cublasLtMatmulAlgoConfigSetAttribute");
  };
  set(CUBLASLT_ALGO_CONFIG_SPLITK_NUM, std::uint32_t{1});
  for (const auto& [name, value] : settings) {
    if (name == CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID ||
        name == CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID) {
      set(name, static_cast<std::uint16_t>(value));
    } else {
      set(name, value);
    }
  }
  return algorithm;
}

TEST(Products, AnAlgorithmsNameHoldsItsConfiguration) {
  EXPECT_EQ(algorithm_name(algorithm_of({})), "cublaslt:algo0");
  EXPECT_EQ(algorithm_name(algorithm_of({{CUBLASLT_ALGO_CONFIG_TILE_ID, 20},
                                         {CUBLASLT_ALGO_CONFIG_STAGES_ID, 35},
                                         {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4},
                                         {CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 2},
                                         {CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 1},
                                         {CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 5},
                                         {CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 1},
                                         {CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 3}})),
            "cublaslt:algo0:tile20:stages35:split4:reduce2:swizzle1:custom5:inner1:cluster3");
}

TEST(Products, SumsThatAreAddedUpInTheResultMayVary) {
  const auto reduced_by = [](std::uint32_t scheme) {
    return algorithm_of(
        {{CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4}, {CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, scheme}});
  };
  EXPECT_TRUE(repeats(algorithm_of({})));
  EXPECT_TRUE(repeats(reduced_by(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)));
  EXPECT_FALSE(repeats(reduced_by(CUBLASLT_REDUCTION_SCHEME_INPLACE)));
}

TEST(Products, ADescribedCardHasOneChoiceWithoutAPlan) {
  const auto choices =
      make_cublas_products(card("sm_90"), false)
          ->choices(
              {.dtype = DType::f16, .result = DType::f16, .rows = 8, .depth = 16, .columns = 24});
  ASSERT_EQ(choices.size(), 1U);
  EXPECT_EQ(choices[0].implementation, "cublaslt");
  EXPECT_THROW(choices[0].make(), InternalError);
}

TEST(Products, ABiasComesWithResultsInF32Only) {
  const auto products = make_cublas_products(card("sm_90"), true);
  const auto offered = [&](DType dtype, DType result, bool bias) {
    return !products
                ->choices({.dtype = dtype,
                           .result = result,
                           .rows = 8,
                           .depth = 16,
                           .columns = 24,
                           .bias = bias})
                .empty();
  };
  EXPECT_TRUE(offered(DType::f32, DType::f32, true));
  for (const DType dtype : {DType::f16, DType::bf16}) {
    EXPECT_TRUE(offered(dtype, dtype, false));
    EXPECT_TRUE(offered(dtype, DType::f32, false));
    EXPECT_FALSE(offered(dtype, dtype, true));
  }
  EXPECT_FALSE(offered(DType::f64, DType::f64, false));
}

}  // namespace
}  // namespace bench::cuda
