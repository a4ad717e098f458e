#include "kernels/reference/reference_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/conv2d.h"

namespace bench {
namespace {

using testing::ElementsAre;

Graph conv_graph(DType dtype, const Epilogue& epilogue) {
  Graph graph;
  const ValueId x = graph.add_input("x", {.dtype = dtype, .shape = {1, 2, 3, 3}});
  const ValueId w = graph.add_input("w", {.dtype = dtype, .shape = {4, 2, 1, 1}});
  graph.add_node(kConv2d, "conv", Conv2dAttributes{.epilogue = epilogue}, {x, w});
  return graph;
}

TEST(ReferenceBackend, SaysWhyItRunsNoFusedNode) {
  const auto backend = make_reference_backend();
  const Graph graph = conv_graph(DType::f32, {.activation = ActivationKind::relu});
  const Support support = backend->supports(graph, graph.nodes()[0]);
  EXPECT_FALSE(support);
  EXPECT_EQ(support.why_not, "reference runs fused nodes as parts");
  EXPECT_THROW(backend->candidates(graph, graph.nodes()[0], DataFormat::nchw), UsageError);
}

TEST(ReferenceBackend, IsPlainWhateverTheFormat) {
  const auto backend = make_reference_backend();
  const Graph graph = conv_graph(DType::f32, {});
  for (const auto format : {DataFormat::nchw, DataFormat::nhwc, DataFormat::automatic}) {
    const auto candidates = backend->candidates(graph, graph.nodes()[0], format);
    ASSERT_EQ(candidates.size(), 1U);
    EXPECT_THAT(candidates[0].inputs, ElementsAre(Layout("nchw"), Layout("nchw")));
    EXPECT_THAT(candidates[0].outputs, ElementsAre(Layout("nchw")));
  }
  EXPECT_EQ(backend->canonical_layout({.shape = {2, 3}}), Layout("plain"));
}

/// One element through several steps; values from the formulas by hand, all exact in binary.
struct Trajectory {
  std::vector<float> variables;
  std::vector<float> slots;
};

Trajectory optimize(const OptimizerSettings& settings, bool decayed, double gradient_scale,
                    const std::vector<float>& gradients) {
  const auto backend = make_reference_backend();
  const auto stream = backend->make_stream();
  const auto optimizer =
      backend->make_optimizer(settings, {{.offset = 0, .count = 1, .decayed = decayed}});
  Trajectory trajectory;
  float variable = 1;
  float slot = 0;
  for (const float gradient : gradients) {
    optimizer->launch(*stream, &variable, &gradient, &slot, 0.5, gradient_scale);
    trajectory.variables.push_back(variable);
    trajectory.slots.push_back(slot);
  }
  return trajectory;
}

TEST(ReferenceOptimizer, SgdStepsAgainstTheScaledGradient) {
  EXPECT_THAT(optimize({.kind = OptimizerKind::sgd}, true, 0.25, {4, -8}).variables,
              ElementsAre(0.5F, 1.5F));
}

TEST(ReferenceOptimizer, DecaysOnlyDecayedSegments) {
  const OptimizerSettings settings{.kind = OptimizerKind::sgd, .weight_decay = 0.5};
  EXPECT_THAT(optimize(settings, true, 1, {0, 0}).variables, ElementsAre(0.75F, 0.5625F));
  EXPECT_THAT(optimize(settings, false, 1, {0, 0}).variables, ElementsAre(1.0F, 1.0F));
}

TEST(ReferenceOptimizer, ClipsAfterScaleAndDecay) {
  const OptimizerSettings settings{.kind = OptimizerKind::sgd, .weight_decay = 0.5, .clip = 0.25};
  // g = 0.25 * -1 + 0.5 * 1 = 0.25 is just inside; 8 is cut to 0.25.
  EXPECT_THAT(optimize(settings, true, 0.25, {-1, 32}).variables, ElementsAre(0.875F, 0.75F));
}

TEST(ReferenceOptimizer, MomentumIsNesterovs) {
  const OptimizerSettings settings{.kind = OptimizerKind::momentum, .momentum = 0.5};
  // a = 1, w = 1 - 0.5 - 0.25; then a = 0.5 + 2, w = 0.25 - 1 - 0.625.
  const Trajectory trajectory = optimize(settings, true, 1, {1, 2});
  EXPECT_THAT(trajectory.slots, ElementsAre(1.0F, 2.5F));
  EXPECT_THAT(trajectory.variables, ElementsAre(0.25F, -1.375F));
}

}  // namespace
}  // namespace bench
