#include "models/zoo/zoo.h"
#include "models/zoo/deepspeech2.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "models/base/default_boxes.h"
#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/passes/backward.h"
#include "models/passes/fuse.h"

namespace bench {
namespace {

std::int64_t trainable_scalars(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Variable& variable : graph.variables()) {
    if (variable.trainable()) {
      sum += graph.shape(variable.value).elements();
    }
  }
  return sum;
}

bool has_variable(const Graph& graph, std::string_view name) {
  const auto variables = graph.variables();
  return std::any_of(variables.begin(), variables.end(),
                     [&](const Variable& v) { return graph.value(v.value).name == name; });
}

class Zoo : public testing::TestWithParam<Model> {};

void expect_one_gradient_per_trainable_variable(const Graph& graph) {
  std::set<std::int32_t> trained;
  for (const Variable& variable : graph.variables()) {
    if (variable.trainable()) {
      trained.insert(variable.value.index);
    }
  }
  EXPECT_EQ(graph.gradients().size(), trained.size());
  for (const auto& pair : graph.gradients()) {
    EXPECT_EQ(trained.erase(pair.variable.index), 1) << graph.value(pair.variable).name;
    EXPECT_EQ(graph.shape(pair.variable), graph.shape(pair.value));
  }
}

TEST_P(Zoo, GivesEveryTrainableVariableOneGradient) {
  const Graph graph = build_network(GetParam(), {.batch = 2});
  expect_one_gradient_per_trainable_variable(add_backward(graph, "loss"));
}

TEST_P(Zoo, KeepsGradientsAndMultiplyAddsWhenFused) {
  const Graph graph = build_network(GetParam(), {.batch = 2});
  const Graph fused = fuse(graph, [](const Graph&, const Node&) { return Support{}; });
  EXPECT_LT(fused.nodes().size(), graph.nodes().size());
  EXPECT_EQ(multiply_adds(fused), multiply_adds(graph));
  expect_one_gradient_per_trainable_variable(add_backward(fused, "loss"));
}

TEST_P(Zoo, GivesTheLogitsOfEachLabelFrameOrBox) {
  const std::int64_t fixed = GetParam().classifies_images() ? 0 : GetParam().num_classes;
  const NetworkOptions options{.batch = 2, .num_classes = fixed > 0 ? fixed : 7, .training = false};
  const Graph graph = build_network(GetParam(), options);
  // The last input of a CTC loss is the number of frames.
  Shape per_example{GetParam().unit().per_example, options.num_classes};
  if (GetParam().name == "ssd300") {
    per_example = {kDefaultBoxes, 4 + options.num_classes};
  } else if (!GetParam().classifies()) {
    per_example = per_example.with(0, example_inputs(GetParam(), options).back().least);
  }
  EXPECT_EQ(graph.shape(graph.output("logits")), per_example.with(0, 2 * per_example[0]));
}

TEST_P(Zoo, HasTheSameVariablesForInferenceAsForTraining) {
  const Graph training = build_network(GetParam(), {.batch = 1});
  const Graph inference = build_network(GetParam(), {.batch = 1, .training = false});
  ASSERT_EQ(training.variables().size(), inference.variables().size());
  for (std::size_t i = 0; i < training.variables().size(); ++i) {
    const ValueId a = training.variables()[i].value;
    const ValueId b = inference.variables()[i].value;
    EXPECT_EQ(training.value(a).name, inference.value(b).name);
    EXPECT_EQ(training.type(a), inference.type(b));
  }
}

TEST_P(Zoo, TrainsAllVariablesButMovingStatistics) {
  const Graph graph = build_network(GetParam(), {.batch = 1});
  for (const Variable& variable : graph.variables()) {
    const std::string& name = graph.value(variable.value).name;
    EXPECT_EQ(variable.trainable(),
              !name.ends_with(".running_mean") && !name.ends_with(".running_var"))
        << name;
    EXPECT_TRUE(variable.trainable() || !variable.decayed()) << name;
    EXPECT_EQ(variable.role == VariableRole::mean, name.ends_with(".running_mean")) << name;
    const bool many_axes = graph.shape(variable.value).rank() >= 2;
    EXPECT_EQ(variable.role == VariableRole::weight, many_axes) << name;
    EXPECT_EQ(variable.role == VariableRole::scale, !many_axes && name.ends_with(".weight"))
        << name;
  }
  for (const Graph::Pair& update : graph.updates()) {
    EXPECT_FALSE(graph.find_variable(update.variable)->trainable());
  }
}

TEST_P(Zoo, GivesVariablesAndNodesDistinctNames) {
  const Graph graph = build_network(GetParam(), {.batch = 1});
  std::set<std::string> names;
  for (const Variable& variable : graph.variables()) {
    EXPECT_TRUE(names.insert(graph.value(variable.value).name).second)
        << graph.value(variable.value).name;
  }
  for (const Node& node : graph.nodes()) {
    EXPECT_TRUE(names.insert(node.name).second) << node.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Zoo, testing::ValuesIn(all_models().begin(), all_models().end()),
                         [](const auto& row) {
                           std::string name =
                               fmt::format("{}_{}", row.param.dataset, row.param.name);
                           std::ranges::replace_if(
                               name, [](char c) { return c == '.' || c == '-'; }, '_');
                           return name;
                         });

/// What the literature counts with 1000 classes.
struct Anchor {
  std::string_view name;
  std::int64_t scalars = 0;
  /// Used if the literature has one gamma per beta and the model has no gammas.
  std::int64_t gammas = 0;
};

class Literature : public testing::TestWithParam<Anchor> {};

TEST_P(Literature, CountsAsManyParametersWithAThousandClasses) {
  const Graph graph =
      build_network(*find_model(GetParam().name), {.batch = 1, .num_classes = 1000});
  EXPECT_EQ(trainable_scalars(graph) + GetParam().gammas, GetParam().scalars);
}

constexpr Anchor kAnchors[] = {{"resnet50", 25557032},   {"resnet50_v1.5", 25557032},
                               {"resnet101", 44549160},  {"resnet101_v1.5", 44549160},
                               {"resnet152", 60192808},  {"resnet152_v1.5", 60192808},
                               {"vgg16", 138357544},     {"vgg19", 143667240},
                               {"inception3", 23817352}, {"inception4", 42679816, 31584},
                               {"googlenet", 6998552},   {"mobilenet", 3504872}};

INSTANTIATE_TEST_SUITE_P(All, Literature, testing::ValuesIn(kAnchors), [](const auto& row) {
  std::string name(row.param.name);
  std::ranges::replace_if(
      name, [](char c) { return c == '.' || c == '-'; }, '_');
  return name;
});

// tf_cnn_benchmarks counts as many with two layers of 16 units.
constexpr DeepSpeech2Size kSmallLstm{.layers = 2, .units = 16};
constexpr DeepSpeech2Size kSmallGru{.cell = RnnCell::gru_reset_before, .layers = 2, .units = 16};

TEST(DeepSpeech2, CountsAsManyParametersAsTheOriginalWithSmallLayers) {
  const auto count = [](const NumberModel& numbers) {
    Model model = *find_model("deepspeech2", "librispeech");
    model.numbers = &numbers;
    return trainable_scalars(build_network(model, {.batch = 1, .num_classes = 29}));
  };
  EXPECT_EQ(count(kDeepSpeech2Of<kSmallLstm>), 592413);
  EXPECT_EQ(count(kDeepSpeech2Of<kSmallGru>), 507357);
}

TEST(ResNet50, HasTorchvisionsNames) {
  const Graph graph = build_network(*find_model("resnet50_v1.5"), {.batch = 1});
  EXPECT_TRUE(has_variable(graph, "layer1.0.downsample.1.running_var"));
  EXPECT_TRUE(has_variable(graph, "layer4.2.conv3.weight"));
  EXPECT_TRUE(has_variable(graph, "bn1.bias"));
}

TEST(Inception3, CountsWhatWasPublishedWithItsAuxiliaryHead) {
  const Graph graph = build_network(*find_model("inception3"), {.batch = 1, .aux_head = true});
  EXPECT_EQ(trainable_scalars(graph), 27145970);
  EXPECT_EQ(std::llround(static_cast<double>(multiply_adds(graph)) / 1e5), 57189);
}

TEST(Inception3, KeepsNamesOfVariablesWithAnAuxiliaryHead) {
  const Model& model = *find_model("inception3");
  const Graph with = build_network(model, {.batch = 1, .aux_head = true});
  const Graph without = build_network(model, {.batch = 1});
  for (const Variable& variable : without.variables()) {
    EXPECT_TRUE(has_variable(with, without.value(variable.value).name));
  }
}

TEST(AuxiliaryHead, IsRefusedByOtherModels) {
  EXPECT_THROW(build_network(*find_model("vgg16"), {.batch = 1, .aux_head = true}), UsageError);
}

}  // namespace
}  // namespace bench
