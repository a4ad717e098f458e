#include <gtest/gtest.h>

#include "models/base/errors.h"
#include "models/ir/op.h"
#include "models/ops/activation.h"
#include "models/ops/add.h"
#include "models/ops/batch_norm.h"
#include "models/ops/bias_add.h"
#include "models/ops/channel_slice.h"
#include "models/ops/concat.h"
#include "models/ops/concat_batch_norm.h"
#include "models/ops/conv2d.h"
#include "models/ops/ctc_loss.h"
#include "models/ops/embedding.h"
#include "models/ops/flatten.h"
#include "models/ops/fully_connected.h"
#include "models/ops/loss.h"
#include "models/ops/multibox_loss.h"
#include "models/ops/multiply.h"
#include "models/ops/pool.h"
#include "models/ops/reshape.h"
#include "models/ops/rnn.h"
#include "models/ops/spatial_mean.h"
#include "models/ops/swap_axes.h"

namespace bench {
namespace {

/// The message of the UsageError that a node of these inputs gives; empty when it fits.
std::string refusal(const OpDef& op, const Attributes& attributes, const std::vector<Shape>& inputs,
                    const std::string& name = "block2/conv1") {
  Graph graph;
  std::vector<ValueId> ids;
  for (const Shape& shape : inputs) {
    const bool labels =
        ((&op == &kSoftmaxCrossEntropy || &op == &kTopKAccuracy) && ids.size() == 1) ||
        (&op == &kCtcLoss && !ids.empty());
    ids.push_back(graph.add_input(fmt::format("in{}", ids.size()),
                                  {.dtype = labels ? DType::s32 : DType::f32, .shape = shape}));
  }
  try {
    graph.add_node(op, name, attributes, ids);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

Shape result_shape(const OpDef& op, const Attributes& attributes,
                   const std::vector<Shape>& inputs) {
  Graph graph;
  std::vector<ValueId> ids;
  for (const Shape& shape : inputs) {
    ids.push_back(graph.add_input(fmt::format("in{}", ids.size()), {.shape = shape}));
  }
  return graph.shape(graph.add_node(op, "node", attributes, ids)[0]);
}

constexpr Window kThree{.kernel = {3, 3}, .pad_before = {1, 1}, .pad_after = {1, 1}};

TEST(Conv2dShape, FollowsStridePaddingAndDilation) {
  const auto result = [](const Window& window, const Shape& x) {
    const Shape w{4, x[1], window.kernel[0], window.kernel[1]};
    return result_shape(kConv2d, Conv2dAttributes{.window = window}, {x, w});
  };
  EXPECT_EQ(result(kThree, {2, 3, 8, 9}), Shape({2, 4, 8, 9}));
  EXPECT_EQ(result({.kernel = {7, 7}, .stride = {2, 2}, .pad_before = {3, 3}, .pad_after = {3, 3}},
                   {1, 3, 224, 224}),
            Shape({1, 4, 112, 112}));
  EXPECT_EQ(result({.kernel = {3, 3}, .stride = {2, 2}, .pad_after = {1, 1}}, {1, 3, 112, 112}),
            Shape({1, 4, 56, 56}));
  EXPECT_EQ(result({.kernel = {3, 3}, .dilation = {2, 2}}, {1, 3, 9, 10}), Shape({1, 4, 5, 6}));
  EXPECT_EQ(result({.kernel = {1, 1}, .stride = {2, 2}}, {1, 3, 7, 8}), Shape({1, 4, 4, 4}));
}

TEST(Conv2dShape, NamesOpAxisAndBothExtentsWhenChannelsDiffer) {
  EXPECT_EQ(
      refusal(kConv2d, Conv2dAttributes{.window = kThree}, {{1, 64, 8, 8}, {8, 32, 3, 3}}),
      "conv2d: the input has 64 channels, but the weights expect 32 (axis C of block2/conv1)");
  EXPECT_EQ(
      refusal(kConv2d, Conv2dAttributes{.window = kThree, .groups = 4},
              {{1, 64, 8, 8}, {8, 32, 3, 3}}),
      "conv2d: the input has 64 channels, but the weights expect 128 (axis C of block2/conv1)");
}

TEST(Conv2dShape, RefusesGroupsThatDoNotDivideTheFilters) {
  EXPECT_EQ(refusal(kConv2d, Conv2dAttributes{.window = kThree, .groups = 4},
                    {{1, 8, 8, 8}, {6, 2, 3, 3}}),
            "conv2d: 6 output channels are not divisible by 4 groups (axis O of block2/conv1)");
}

TEST(Conv2dShape, RefusesWeightsOfAnotherWindow) {
  EXPECT_EQ(refusal(kConv2d, Conv2dAttributes{.window = kThree}, {{1, 8, 8, 8}, {6, 8, 3, 5}}),
            "conv2d: the weights have extent 5, but the window has 3 (axis W of block2/conv1)");
}

TEST(Conv2dShape, RefusesAWindowLargerThanTheImage) {
  EXPECT_EQ(refusal(kConv2d, Conv2dAttributes{.window = {.kernel = {5, 5}, .pad_after = {1, 1}}},
                    {{1, 8, 8, 3}, {6, 8, 5, 5}}),
            "conv2d: the input has extent 3, but the window needs 4 (axis W of block2/conv1)");
}

TEST(Conv2dShape, RefusesAnotherRank) {
  EXPECT_EQ(refusal(kConv2d, Conv2dAttributes{.window = kThree}, {{1, 8}, {6, 8, 3, 3}}),
            "conv2d: input 0 has 2 axes (1x8), but 4 are expected (block2/conv1)");
}

TEST(Conv2dShape, RefusesAnEpilogueThatDoesNotFit) {
  const Attributes bias(Conv2dAttributes{.window = kThree, .epilogue = {.bias = true}});
  EXPECT_EQ(refusal(kConv2d, bias, {{1, 8, 4, 4}, {6, 8, 3, 3}, {7}}),
            "conv2d: the bias has 7 channels, but the result has 6 (axis C of block2/conv1)");
  const Attributes residual(Conv2dAttributes{.window = kThree, .epilogue = {.residual = true}});
  EXPECT_EQ(refusal(kConv2d, residual, {{1, 8, 4, 4}, {6, 8, 3, 3}, {1, 6, 2, 2}}),
            "conv2d: the residual is 1x6x2x2, but the result is 1x6x4x4 (block2/conv1)");
}

TEST(ConcatShape, TakesMatricesOrImages) {
  EXPECT_EQ(refusal(kConcat, {}, {{2, 3, 4}, {2, 3, 4}}, "joined"),
            "concat: input 0 has 3 axes (2x3x4), but 2 or 4 are expected (joined)");
  EXPECT_EQ(refusal(kConcat, {}, {{2, 3}, {2, 3, 4, 4}}, "joined"),
            "concat: input 1 has 4 axes (2x3x4x4), but 2 are expected (joined)");
  EXPECT_EQ(refusal(kConcat, {}, {{2, 3}, {5, 7}}, "joined"),
            "concat: input 1 has extent 5, but input 0 has 2 (axis N of joined)");
}

TEST(CtcLossShape, RefusesOtherExamplesAndTooFewClasses) {
  EXPECT_EQ(refusal(kCtcLoss, {}, {{9, 2, 5}, {3, 4}, {2}, {2}}, "ctc"),
            "ctc_loss: the labels have 3 examples, but the logits have 2 (axis N of ctc)");
  EXPECT_EQ(refusal(kCtcLoss, {}, {{9, 2, 5}, {2, 4}, {2}, {3}}, "ctc"),
            "ctc_loss: the frames have 3 examples, but the logits have 2 (axis N of ctc)");
  EXPECT_EQ(refusal(kCtcLoss, {}, {{9, 2, 1}, {2, 4}, {2}, {2}}, "ctc"),
            "ctc_loss: a label and the blank need at least 2 classes, not 1 (ctc)");
}

TEST(MultiboxLossShape, RefusesOtherAnchorsAndCoordinates) {
  EXPECT_EQ(refusal(kMultiboxLoss, {}, {{2, 9, 4}, {2, 8, 5}, {2, 9, 4}, {2, 9}}, "loss"),
            "multibox_loss: the scores have 8 anchors, but the offsets have 9 (axis A of loss)");
  EXPECT_EQ(refusal(kMultiboxLoss, {}, {{2, 9, 4}, {2, 9, 5}, {2, 9, 3}, {2, 9}}, "loss"),
            "multibox_loss: the target offsets have 3 coordinates, not 4 (loss)");
  EXPECT_EQ(refusal(kMultiboxLoss, {}, {{2, 9, 4}, {2, 9, 1}, {2, 9, 4}, {2, 9}}, "loss"),
            "multibox_loss: a class and the background need at least 2 scores, not 1 (loss)");
}

TEST(BatchNormShape, RefusesVectorsOfOtherChannels) {
  EXPECT_EQ(refusal(kBatchNorm, BatchNormAttributes{}, {{1, 8, 4, 4}, {8}, {7}}, "bn"),
            "batch_norm: a parameter has 7 channels, but the input has 8 (axis C of bn)");
}

TEST(BatchNormShape, RefusesAResidualOfAnotherShape) {
  EXPECT_EQ(refusal(kBatchNorm, BatchNormAttributes{.scale = false, .epilogue = {.residual = true}},
                    {{1, 8, 4, 4}, {8}, {1, 8, 4, 5}}, "bn"),
            "batch_norm: the residual is 1x8x4x5, but the result is 1x8x4x4 (bn)");
}

TEST(ConcatBatchNormShape, IsTheConcatOfItsParts) {
  const ConcatBatchNormAttributes attributes{.norm = {.scale = false}, .parts = 2};
  EXPECT_EQ(result_shape(kConcatBatchNorm, attributes, {{1, 3, 4, 4}, {1, 5, 4, 4}, {8}, {8}, {8}}),
            (Shape{1, 8, 4, 4}));
  EXPECT_EQ(
      refusal(kConcatBatchNorm, attributes, {{1, 3, 4, 4}, {1, 5, 4, 4}, {8}, {7}, {8}}, "bn"),
      "concat_batch_norm: a parameter has 7 channels, but the input has 8 (axis C of bn)");
  EXPECT_EQ(
      refusal(kConcatBatchNorm, attributes, {{1, 3, 4, 4}, {1, 5, 4, 3}, {8}, {8}, {8}}, "bn"),
      "concat_batch_norm: input 1 has extent 3, but input 0 has 4 (axis W of bn)");
}

TEST(FullyConnectedShape, RefusesOtherChannels) {
  EXPECT_EQ(refusal(kFullyConnected, FullyConnectedAttributes{}, {{2, 10}, {7, 11}}, "fc"),
            "fully_connected: the input has 10 channels, but the weights expect 11 (axis C of fc)");
}

TEST(AddShape, NamesTheAxisThatDiffers) {
  EXPECT_EQ(refusal(kAdd, {}, {{2, 3, 4, 5}, {2, 3, 6, 5}}, "sum"),
            "add: input 0 has extent 4, but input 1 has 6 (axis H of sum)");
  EXPECT_EQ(refusal(kAdd, {}, {{2, 3, 4, 5}, {2, 3}}, "sum"),
            "add: input 1 has 2 axes (2x3), but 4 are expected (sum)");
}

TEST(BiasAddShape, RefusesOtherChannels) {
  EXPECT_EQ(refusal(kBiasAdd, {}, {{2, 10}, {7}}, "fc/bias"),
            "bias_add: the bias has 7 channels, but the result has 10 (axis C of fc/bias)");
}

TEST(PoolShape, FollowsTheWindow) {
  const Window resnet{.kernel = {3, 3}, .stride = {2, 2}, .pad_after = {1, 1}};
  const Shape x{2, 8, 112, 112};
  EXPECT_EQ(result_shape(kMaxPool, PoolAttributes{.window = resnet, .input = x}, {x}),
            Shape({2, 8, 56, 56}));
  EXPECT_EQ(refusal(kAvgPool, PoolAttributes{.window = {.kernel = {7, 7}}, .input = {1, 1, 6, 7}},
                    {{1, 1, 6, 7}}, "pool"),
            "avg_pool: the input has extent 6, but the window needs 7 (axis H of pool)");
}

TEST(LossShape, RefusesLabelsOfAnotherBatch) {
  EXPECT_EQ(
      refusal(kSoftmaxCrossEntropy, {}, {{4, 10}, {3}}, "loss"),
      "softmax_cross_entropy: the logits have 4 rows, but the labels have 3 (axis N of loss)");
  EXPECT_EQ(refusal(kTopKAccuracy, TopKAttributes{.k = 5}, {{4, 10}, {3}}, "top_5"),
            "top_k_accuracy: the logits have 4 rows, but the labels have 3 (axis N of top_5)");
}

TEST(ShapeRules, RefuseTheWrongNumberOfInputsAsOurMistake) {
  Graph graph;
  const ValueId x = graph.add_input("x", {.shape = {2, 3}});
  EXPECT_THROW(graph.add_node(kAdd, "sum", {}, {x}), InternalError);
  EXPECT_THROW(graph.add_node(kActivation, "relu", ActivationAttributes{}, {x, x}), InternalError);
}

TEST(ShapeRules, FlattenAndSpatialMeanKeepTheBatch) {
  EXPECT_EQ(result_shape(kFlatten, {}, {{2, 3, 4, 5}}), Shape({2, 60}));
  EXPECT_EQ(result_shape(kSpatialMean, {}, {{2, 3, 4, 5}}), Shape({2, 3}));
}

TEST(RnnShape, JoinsTheStatesOfBothDirections) {
  const RnnAttributes lstm{.cell = RnnCell::lstm};
  EXPECT_EQ(result_shape(kRnn, lstm, {{7, 3, 5}, {1, 4, 6, 5}, {1, 4, 6, 6}, {24}}),
            Shape({7, 3, 6}));
  EXPECT_EQ(result_shape(kRnn, lstm, {{7, 3, 5}, {2, 4, 6, 5}, {2, 4, 6, 6}, {48}}),
            Shape({7, 3, 12}));
}

TEST(RnnShape, RefusesWeightsAndBiasesThatDoNotFit) {
  const RnnAttributes lstm{.cell = RnnCell::lstm};
  const Shape x{7, 3, 5};
  const auto message = [&](const Shape& w_x, const Shape& w_h, const Shape& b_x) {
    return refusal(kRnn, lstm, {x, w_x, w_h, b_x}, "rnn1");
  };
  EXPECT_EQ(message({1, 4, 6, 5}, {1, 4, 6, 6}, {24}), "");
  EXPECT_EQ(message({3, 4, 6, 5}, {3, 4, 6, 6}, {72}),
            "rnn: the weights have 3 directions, but 1 or 2 are possible (rnn1)");
  EXPECT_EQ(message({1, 3, 6, 5}, {1, 3, 6, 6}, {18}),
            "rnn: the weights have 3 gates, but the layer needs 4 (axis G of rnn1)");
  EXPECT_EQ(message({1, 4, 6, 8}, {1, 4, 6, 6}, {24}),
            "rnn: the weights have 8 inputs, but the layer needs 5 (axis I of rnn1)");
  EXPECT_EQ(message({1, 4, 6, 5}, {1, 4, 7, 6}, {24}),
            "rnn: the hidden weights have extent 7, but the layer needs 6 (axis H of rnn1)");
  EXPECT_EQ(message({1, 4, 6, 5}, {1, 4, 6, 5}, {24}),
            "rnn: the hidden weights have 5 inputs, but the layer needs 6 (axis H of rnn1)");
  EXPECT_EQ(message({1, 4, 6, 5}, {1, 4, 6, 6}, {6}),
            "rnn: the bias has 6 elements, but the layer needs 24 (axis H of rnn1)");
}

TEST(EmbeddingShape, AppendsTheColumnsToTheIds) {
  Graph graph;
  const ValueId table = graph.add_input("table", {.dtype = DType::bf16, .shape = {10, 6}});
  const ValueId ids = graph.add_input("ids", {.dtype = DType::s32, .shape = {4, 7}});
  const ValueId y = graph.add_node(kEmbedding, "node", {}, {table, ids})[0];
  EXPECT_EQ(graph.type(y), (TensorType{.dtype = DType::bf16, .shape = {4, 7, 6}}));
  // Only the rows that are copied.
  EXPECT_EQ(work_of(graph, graph.nodes()[0]).bytes, 4 * 28 + 2 * 2 * 28 * 6);
}

TEST(ChannelSliceWork, CountsTheChannelsThatAreCopied) {
  Graph graph;
  const ValueId x = graph.add_input("x", {.shape = {2, 1024, 7, 7}});
  graph.add_node(kChannelSlice, "slice", ChannelSliceAttributes{.begin = 3, .count = 32}, {x});
  EXPECT_EQ(work_of(graph, graph.nodes()[0]).bytes, 2 * (2 * 32 * 7 * 7) * 4);
}

TEST(EmbeddingShape, GivesAWideGradientOfTheTable) {
  Graph graph;
  const ValueId dy = graph.add_input("dy", {.dtype = DType::bf16, .shape = {4, 7, 6}});
  const ValueId ids = graph.add_input("ids", {.dtype = DType::s32, .shape = {4, 7}});
  const EmbeddingBackwardAttributes rows{10};
  const ValueId dtable = graph.add_node(kEmbeddingBackward, "node", rows, {dy, ids})[0];
  EXPECT_EQ(graph.type(dtable), (TensorType{.dtype = DType::f32, .shape = {10, 6}}));
}

TEST(SwapAxesShape, SwapsTwoNeighboursOfThree) {
  EXPECT_EQ(result_shape(kSwapAxes, SwapAxesAttributes{}, {{5, 3, 16}}), Shape({3, 5, 16}));
  EXPECT_EQ(result_shape(kSwapAxes, SwapAxesAttributes{1}, {{5, 3, 16}}), Shape({5, 16, 3}));
}

TEST(ReshapeShape, KeepsTheElements) {
  const ReshapeAttributes to_rows{{15, 16}};
  EXPECT_EQ(result_shape(kReshape, to_rows, {{5, 3, 16}}), Shape({15, 16}));
  EXPECT_EQ(refusal(kReshape, to_rows, {{5, 3, 17}}),
            "reshape: the input has 255 elements, but the new shape has 240 (axis N of "
            "block2/conv1)");
}

TEST(MultiplyShape, NeedsOneShape) {
  EXPECT_EQ(result_shape(kMultiply, {}, {{5, 7}, {5, 7}}), Shape({5, 7}));
  EXPECT_EQ(refusal(kMultiply, {}, {{5, 7}, {5, 8}}),
            "multiply: input 0 has extent 7, but input 1 has 8 (axis C of block2/conv1)");
}

TEST(ChannelSliceShape, TakesMatricesAndImages) {
  const ChannelSliceAttributes slice{.begin = 2, .count = 3};
  EXPECT_EQ(result_shape(kChannelSlice, slice, {{4, 9}}), Shape({4, 3}));
  EXPECT_EQ(result_shape(kChannelSlice, slice, {{4, 9, 2, 2}}), Shape({4, 3, 2, 2}));
  EXPECT_EQ(refusal(kChannelSlice, slice, {{4, 9, 2}}),
            "channel_slice: input 0 has 3 axes (4x9x2), but 2 or 4 are expected (block2/conv1)");
}

}  // namespace
}  // namespace bench
