#include "kernels/reference/reference_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/conv2d.h"

namespace bench {
namespace {

using testing::ElementsAre;
using testing::FloatEq;

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
  EXPECT_EQ(support.why_not, "reference runs the parts of a fused node, not the node");
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

/// One element through several steps; values computed from the formulas by hand.
struct Trajectory {
  std::vector<float> variables;
  /// The slots' values, starting with the initial ones.
  std::vector<std::vector<float>> slots;
};

Trajectory optimize(const OptimizerSettings& settings, bool decayed, double gradient_scale,
                    const std::vector<float>& gradients) {
  const auto backend = make_reference_backend();
  const auto stream = backend->make_stream();
  const auto optimizer =
      backend->make_optimizer(settings, {{.offset = 0, .count = 1, .decayed = decayed}});
  std::vector<float> slots(row_of(settings.rule).slots());
  std::vector<void*> places;
  for (float& slot : slots) {
    places.push_back(&slot);
  }
  StepState state{.parameters = {.learning_rate = 0.5, .gradient_scale = gradient_scale}};
  optimizer->reset(*stream, places, &state);
  Trajectory trajectory;
  for (const float slot : slots) {
    trajectory.slots.push_back({slot});
  }
  float variable = 1;
  for (const float gradient : gradients) {
    optimizer->launch(*stream, {.variables = &variable, .gradients = &gradient, .slots = places},
                      &state);
    trajectory.variables.push_back(variable);
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      trajectory.slots[slot].push_back(slots[slot]);
    }
  }
  return trajectory;
}

TEST(ReferenceOptimizer, SgdStepsAgainstTheScaledGradient) {
  EXPECT_THAT(optimize({.rule = SgdRule{}}, true, 0.25, {4, -8}).variables,
              ElementsAre(0.5F, 1.5F));
}

TEST(ReferenceOptimizer, DecaysOnlyDecayedSegments) {
  const OptimizerSettings settings{.rule = SgdRule{}, .weight_decay = 0.5};
  EXPECT_THAT(optimize(settings, true, 1, {0, 0}).variables, ElementsAre(0.75F, 0.5625F));
  EXPECT_THAT(optimize(settings, false, 1, {0, 0}).variables, ElementsAre(1.0F, 1.0F));
}

TEST(ReferenceOptimizer, ClipsAfterScaleAndDecay) {
  const OptimizerSettings settings{.rule = SgdRule{}, .weight_decay = 0.5, .clip = 0.25};
  // g = 0.25 * -1 + 0.5 * 1 = 0.25 is just inside; 8 is cut to 0.25.
  EXPECT_THAT(optimize(settings, true, 0.25, {-1, 32}).variables, ElementsAre(0.875F, 0.75F));
}

TEST(ReferenceOptimizer, MomentumIsNesterovs) {
  const OptimizerSettings settings{.rule = MomentumRule{.momentum = 0.5}};
  // a = 1, w = 1 - 0.5 - 0.25; then a = 0.5 + 2, w = 0.25 - 1 - 0.625.
  const Trajectory trajectory = optimize(settings, true, 1, {1, 2});
  EXPECT_THAT(trajectory.slots, ElementsAre(ElementsAre(0.0F, 1.0F, 2.5F)));
  EXPECT_THAT(trajectory.variables, ElementsAre(0.25F, -1.375F));
}

TEST(ReferenceOptimizer, RmspropAddsEpsilonUnderTheRootAndBeginsAtOne) {
  const OptimizerSettings settings{.rule =
                                       RmspropRule{.decay = 0.5, .momentum = 0.5, .epsilon = 3}};
  // s = 0.5 + 0.5, a = 0.5 * 1 / sqrt(4); then s = 0.5 + 12.5, a = 0.125 + 0.5 * 5 / sqrt(16).
  const Trajectory trajectory = optimize(settings, true, 1, {1, 5});
  EXPECT_THAT(trajectory.slots,
              ElementsAre(ElementsAre(1.0F, 1.0F, 13.0F), ElementsAre(0.0F, 0.25F, 0.75F)));
  EXPECT_THAT(trajectory.variables, ElementsAre(0.75F, 0.0F));
}

TEST(ReferenceOptimizer, AdamAddsEpsilonOutsideTheRootAndCorrectsItsBias) {
  const OptimizerSettings settings{.rule = AdamRule{.beta1 = 0.5, .beta2 = 0.96, .epsilon = 1}};
  // m = 2.5, v = 1, w = 1 - 0.5 * 0.2 / 0.5 * 2.5 / 2; then m = 1.75, v = 1,
  // w = 0.75 - 0.5 * 0.28 / 0.75 * 1.75 / 2.
  const Trajectory trajectory = optimize(settings, true, 1, {5, 1});
  EXPECT_THAT(trajectory.slots, ElementsAre(ElementsAre(0.0F, 2.5F, 1.75F),
                                            ElementsAre(0.0F, FloatEq(1), FloatEq(1))));
  EXPECT_THAT(trajectory.variables, ElementsAre(FloatEq(0.75F), FloatEq(0.75F - 0.49F / 3)));
}

TEST(ReferenceOptimizer, RefusesAnotherNumberOfSlots) {
  const auto backend = make_reference_backend();
  const auto optimizer = backend->make_optimizer({.rule = AdamRule{}}, {{.offset = 0, .count = 1}});
  float number = 0;
  const std::array<void*, 1> one{&number};
  StepState state;
  EXPECT_THROW(
      optimizer->launch(*backend->make_stream(),
                        {.variables = &number, .gradients = &number, .slots = one}, &state),
      InternalError);
}

}  // namespace
}  // namespace bench
