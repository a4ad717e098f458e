#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/reference/reference_backend.h"
#include "kernels/test/case_runner.h"
#include "models/base/errors.h"
#include "models/base/philox.h"
#include "models/ops/channel_scale.h"
#include "models/ops/channel_shuffle.h"
#include "models/ops/channel_slice.h"
#include "models/ops/concat.h"
#include "models/ops/drop_path.h"
#include "models/ops/spatial_pad.h"

// By hand, like reference_kernels_test.cc.
namespace bench {
namespace {

using testing::ElementsAre;

using Values = std::vector<double>;

struct Operand {
  Shape shape;
  Values values;
  DType dtype = DType::f64;
};

/// The output of one node in f64.
Values evaluate(const OpDef& op, const Attributes& attributes,
                const std::vector<Operand>& operands) {
  Graph graph;
  std::vector<ValueId> ids;
  for (const Operand& operand : operands) {
    ids.push_back(graph.add_input(fmt::format("in{}", ids.size()),
                                  {.dtype = operand.dtype, .shape = operand.shape}));
  }
  graph.set_output("out", graph.add_node(op, "node", attributes, ids)[0]);
  const auto backend = make_reference_backend();
  GraphRunner runner(graph, *backend, DataFormat::automatic);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    runner.set(fmt::format("in{}", i), operands[i].values);
  }
  runner.run();
  return runner.output("out");
}

TEST(ReferenceConcat, JoinsTheChannelsOfEachImage) {
  const auto y = evaluate(
      kConcat, {}, {{{2, 1, 1, 2}, {1, 2, 3, 4}}, {{2, 2, 1, 2}, {5, 6, 7, 8, 9, 10, 11, 12}}});
  EXPECT_THAT(y, ElementsAre(1, 2, 5, 6, 7, 8, 3, 4, 9, 10, 11, 12));
}

TEST(ReferenceChannelSlice, TakesChannelsFromTheMiddleOfEachImage) {
  const auto y = evaluate(kChannelSlice, ChannelSliceAttributes{.begin = 1, .count = 2},
                          {{{2, 4, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8}}});
  EXPECT_THAT(y, ElementsAre(2, 3, 6, 7));
}

TEST(ReferenceChannelPad, PutsZerosAroundTheChannelsOfEachImage) {
  const auto y = evaluate(kChannelPad, ChannelPadAttributes{.before = 1, .after = 2},
                          {{{2, 1, 1, 2}, {1, 2, 3, 4}}});
  EXPECT_THAT(y, ElementsAre(0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0));
}

TEST(ReferenceChannelShuffle, TakesOneChannelOfEachGroupInTurn) {
  const auto y = evaluate(kChannelShuffle, ChannelShuffleAttributes{.groups = 2},
                          {{{1, 6, 1, 1}, {1, 2, 3, 4, 5, 6}}});
  EXPECT_THAT(y, ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(ReferenceChannelScale, ScalesEachChannelOfEachImage) {
  const auto y =
      evaluate(kChannelScale, {},
               {{{2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}, {{2, 2, 1, 1}, {1, 10, 100, 1000}}});
  EXPECT_THAT(y, ElementsAre(1, 2, 30, 40, 500, 600, 7000, 8000));
}

TEST(ReferenceChannelScale, ItsBackwardSumsProductsOverSpace) {
  const auto ds = evaluate(kChannelScaleBackward, {},
                           {{{1, 2, 1, 2}, {1, 2, 3, 4}}, {{1, 2, 1, 2}, {1, 10, 100, 1000}}});
  EXPECT_THAT(ds, ElementsAre(21, 4300));
}

TEST(ReferenceSpatialPad, AddsZerosWherePositiveAndCutsWhereNegative) {
  const auto y = evaluate(kSpatialPad, SpatialPadAttributes{.before = {1, -1}, .after = {-1, 2}},
                          {{{1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}}});
  EXPECT_THAT(y, ElementsAre(0, 0, 0, 0, 2, 3, 0, 0));
}

/// Sixteen examples of one element, all 1.
Values drop_path_of_ones(const DropPathAttributes& attributes, double step) {
  return evaluate(kDropPath, attributes,
                  {{{16, 1, 1, 1}, Values(16, 1.0)}, {{}, {step}, DType::s32}});
}

TEST(ReferenceDropPath, DecidesByTheExamplesWordOfTheGenerator) {
  const DropPathAttributes attributes{.keep = 0.75, .seed = 0x100000002, .stream = 0x300000004};
  const auto y = drop_path_of_ones(attributes, 9);
  for (std::uint32_t n = 0; n < 16; ++n) {
    const std::uint32_t word = philox4x32({n / 4, 0, 4, 9}, {2, 3}).at(n % 4);
    EXPECT_DOUBLE_EQ(y[n], word >> 8U < 3U << 22U ? 1 / 0.75 : 0) << "example " << n;
  }
}

TEST(ReferenceDropPath, DropsNothingAtTheRampsBeginningOrOutsideTraining) {
  const DropPathAttributes attributes{.keep = 0.5, .ramp_steps = 100, .seed = 1};
  EXPECT_EQ(drop_path_of_ones(attributes, 0), Values(16, 1.0));
  EXPECT_EQ(drop_path_of_ones(attributes, -1), Values(16, 1.0));
  EXPECT_THAT(drop_path_of_ones(attributes, 100), testing::Contains(2.0));
  EXPECT_THAT(drop_path_of_ones(attributes, 100), testing::Contains(0.0));
}

}  // namespace
}  // namespace bench
