#include "models/zoo/zoo.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/ir/op.h"
#include "models/passes/backward.h"

namespace bench {
namespace {

std::int64_t trainable_scalars(const Graph& graph, bool decayed_only = false) {
  std::int64_t sum = 0;
  for (const Variable& variable : graph.variables()) {
    if (variable.trainable && (variable.decayed || !decayed_only)) {
      sum += graph.shape(variable.value).elements();
    }
  }
  return sum;
}

class Zoo : public testing::TestWithParam<Model> {};

TEST_P(Zoo, GivesEveryTrainableVariableOneGradient) {
  const Graph graph = add_backward(build_network(GetParam(), {.batch = 2}), "loss");
  const auto variables = graph.variables();
  const auto trained = std::count_if(variables.begin(), variables.end(),
                                     [](const Variable& v) { return v.trainable; });
  EXPECT_EQ(static_cast<std::ptrdiff_t>(graph.gradients().size()), trained);
  for (const auto& pair : graph.gradients()) {
    EXPECT_EQ(graph.shape(pair.variable), graph.shape(pair.value));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Zoo, testing::ValuesIn(all_models().begin(), all_models().end()),
                         [](const auto& row) {
                           std::string name = cat(row.param.dataset, "_", row.param.name);
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(ResNet50, LeavesBatchNormOutOfTheL2Sum) {
  const Graph graph = build_network(*find_model("resnet50"), {.batch = 1});
  EXPECT_EQ(trainable_scalars(graph, /*decayed_only=*/true), 25505961);
}

TEST(ResNet50, HasTorchvisionsNumberOfParametersWithAThousandClasses) {
  const Graph graph =
      build_network(*find_model("resnet50_v1.5"), {.batch = 1, .num_classes = 1000});
  EXPECT_EQ(trainable_scalars(graph), 25557032);
  const auto variables = graph.variables();
  const auto named = [&](std::string_view name) {
    return std::any_of(variables.begin(), variables.end(),
                       [&](const Variable& v) { return graph.value(v.value).name == name; });
  };
  EXPECT_TRUE(named("layer1.0.downsample.1.running_var"));
  EXPECT_TRUE(named("layer4.2.conv3.weight"));
  EXPECT_TRUE(named("bn1.bias"));
}

TEST(ResNet50, HasNoVariableForInferenceThatTrainingLacks) {
  const Model& model = *find_model("resnet50");
  const Graph training = build_network(model, {.batch = 1});
  const Graph inference = build_network(model, {.batch = 1, .training = false});
  ASSERT_EQ(training.variables().size(), inference.variables().size());
  for (std::size_t i = 0; i < training.variables().size(); ++i) {
    EXPECT_EQ(training.value(training.variables()[i].value).name,
              inference.value(inference.variables()[i].value).name);
  }
}

}  // namespace
}  // namespace bench
