#include "variable_mgmt/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/reference/reference_backend.h"
#include "models/base/errors.h"
#include "models/base/test/scratch_folder.h"
#include "models/ops/batch_norm.h"
#include "models/zoo/builder.h"
#include "variable_mgmt/towers/tower.h"

namespace bench {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

/// A graph with conv.weight 2x3x1x1, and bn.weight, bn.bias, bn.running_mean and bn.running_var of
/// 2.
Graph small_network() {
  Graph graph;
  NetworkBuilder net(graph, {.num_classes = 2, .training = false});
  const ValueId images = graph.add_input("images", {.dtype = DType::f32, .shape = {1, 3, 2, 2}});
  const ValueId x =
      net.conv("conv", images, {.channels = 2, .window = {.kernel = 1}, .bias = false});
  graph.set_output("logits", net.spatial_mean("mean", net.batch_norm("bn", x, {.scale = true})));
  return graph;
}

struct Entry {
  std::string name;
  std::vector<std::int64_t> shape;
  StoredType type = StoredType::f32;
};
const std::vector<Entry> kComplete = {{"conv.weight", {2, 3, 1, 1}},
                                      {"bn.weight", {2}},
                                      {"bn.bias", {2}},
                                      {"bn.running_mean", {2}},
                                      {"bn.running_var", {2}}};

std::vector<Entry> without(std::vector<Entry> entries, const std::string& name) {
  std::erase_if(entries, [&](const Entry& entry) { return entry.name == name; });
  return entries;
}
std::vector<Entry> with(std::vector<Entry> entries, const Entry& entry) {
  entries = without(std::move(entries), entry.name);
  entries.push_back(entry);
  return entries;
}

/// A file in which all elements of floating entries are 7.
TensorFile file_of(const ScratchFolder& folder, const std::vector<Entry>& entries) {
  const std::vector<float> sevens(64, 7);
  std::vector<TensorToWrite> tensors;
  for (const Entry& entry : entries) {
    std::size_t bytes = size_of(entry.type);
    for (const std::int64_t extent : entry.shape) {
      bytes *= static_cast<std::size_t>(extent);
    }
    tensors.push_back(
        {entry.name, entry.type, entry.shape, std::as_bytes(std::span(sevens)).first(bytes)});
  }
  write_tensor_file(AtomicFile(folder.path() / "w"), tensors, {});
  return TensorFile(folder.path() / "w");
}

std::string refusal(const std::vector<Entry>& entries, LoadMode mode = LoadMode::complete) {
  const ScratchFolder folder;
  const TensorFile file = file_of(folder, entries);
  try {
    plan_load(file, small_network(), mode);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Weights, ReplaceDrawnValues) {
  const ScratchFolder folder;
  const TensorFile file = file_of(folder, kComplete);
  const Graph graph = small_network();
  InitialValues values = initial_values(graph, 1);
  load_variables(file, plan_load(file, graph, LoadMode::complete), values);
  for (const auto& [name, elements] : values) {
    EXPECT_THAT(elements, Each(7)) << name;
  }
}

TEST(Weights, MayBeASubsetOnRequestOnly) {
  const auto subset = with(without(kComplete, "bn.bias"), {"elsewhere", {1}});
  const ScratchFolder folder;
  const TensorFile file = file_of(folder, subset);
  const Graph graph = small_network();
  InitialValues values = initial_values(graph, 1);
  const LoadPlan plan = plan_load(file, graph, LoadMode::partial);
  EXPECT_EQ(plan.names.size(), 4U);
  EXPECT_EQ(plan.missing, 1U);
  EXPECT_EQ(plan.extra, 1U);
  load_variables(file, plan, values);
  EXPECT_THAT(values.at("bn.weight"), Each(7));
  EXPECT_THAT(values.at("bn.bias"), Each(0));
  const std::string message = refusal(subset);
  EXPECT_THAT(message, HasSubstr(". The file lacks bn.bias. The network has no 'elsewhere'. Use "
                                 "--init_from_partial to load what fits"));
}

TEST(Weights, AreRefusedIfTheShapeOrTypeDiffers) {
  EXPECT_THAT(refusal(with(kComplete, {"conv.weight", {3, 2, 1, 1}})),
              HasSubstr("conv.weight has shape 3x2x1x1, not 2x3x1x1"));
  EXPECT_THAT(
      refusal(with(kComplete, {"conv.weight", {2, 3}})),
      HasSubstr(
          "conv.weight has shape 2x3, not 2x3x1x1. Use --init_from_partial to load what fits"));
  EXPECT_THAT(refusal(with(kComplete, {"bn.bias", {2}, StoredType::i32})),
              HasSubstr("bn.bias has type I32"));
}

TEST(Weights, AreSkippedInAPartialLoadIfTheyDiffer) {
  const ScratchFolder folder;
  const TensorFile file = file_of(folder, with(with(kComplete, {"conv.weight", {3, 2, 1, 1}}),
                                               {"bn.bias", {2}, StoredType::i32}));
  const Graph graph = small_network();
  InitialValues values = initial_values(graph, 1);
  const InitialValues drawn = values;
  const LoadPlan plan = plan_load(file, graph, LoadMode::partial);
  EXPECT_THAT(plan.names, UnorderedElementsAre("bn.weight", "bn.running_mean", "bn.running_var"));
  EXPECT_EQ(plan.misshapen, 2U);
  EXPECT_EQ(plan.misfits, "conv.weight has shape 3x2x1x1, not 2x3x1x1, bn.bias has type I32");
  load_variables(file, plan, values);
  EXPECT_THAT(values.at("bn.weight"), Each(7));
  EXPECT_EQ(values.at("conv.weight"), drawn.at("conv.weight"));
  EXPECT_EQ(values.at("bn.bias"), drawn.at("bn.bias"));
}

TEST(Weights, AreRefusedIfNoneMatchesInAPartialLoad) {
  const std::string message = refusal({{"a", {1}}, {"b", {1}}}, LoadMode::partial);
  EXPECT_THAT(message, HasSubstr("has no variable of this network. The network has conv.weight, "));
  EXPECT_THAT(message, HasSubstr("The file has 'a', 'b'"));
  EXPECT_THAT(refusal({}, LoadMode::partial), HasSubstr("has no variable of this network"));
  EXPECT_THAT(refusal({{"bn.bias", {3}}}, LoadMode::partial),
              HasSubstr("has no variable of this network. The shape or type differs: bn.bias has "
                        "shape 3, not 2. The network has conv.weight"));
}

TEST(Weights, AreListedInOneSentenceTenOfAKind) {
  std::vector<Entry> entries = without(kComplete, "bn.weight");
  for (int i = 0; i < 47; ++i) {
    entries.push_back({fmt::format("x{}", i), {1}});
  }
  const std::string message = refusal(entries);
  EXPECT_THAT(message, HasSubstr("The file lacks bn.weight. The network has no 'x0', 'x1'"));
  EXPECT_THAT(message, HasSubstr(" and 37 more"));
  EXPECT_THAT(message, Not(HasSubstr("'x46'")));
  EXPECT_THAT(message, Not(HasSubstr("\n")));
}

TEST(Weights, MayHaveTorchsBatchCounters) {
  EXPECT_EQ(refusal(with(kComplete, {"bn.num_batches_tracked", {}, StoredType::i64})), "accepted");
  EXPECT_THAT(refusal(with(kComplete, {"bn.num_batches_tracked", {2}, StoredType::i64})),
              HasSubstr("The network has no 'bn.num_batches_tracked'"));
}

TEST(Weights, AreSavedAsTheyWereLoadedWithTheirMovingStatistics) {
  const auto backend = make_reference_backend();
  const Graph graph = small_network();
  InitialValues values = initial_values(graph, 1);
  values.at("conv.weight") = {1, 2, 3, 4, 5, 6};
  values.at("bn.running_var") = {0.1F, 9};
  Tower tower(graph, *backend, {}, values);
  const ScratchFolder folder;
  save_variables(tower.executor(), AtomicFile(folder.path() / "s"), {{"model", "small"}});

  const TensorFile file(folder.path() / "s");
  EXPECT_EQ(file.metadata().at("model"), "small");
  EXPECT_EQ(file.tensors().size(), values.size());
  EXPECT_THAT(file.find("conv.weight")->shape, ElementsAre(2, 3, 1, 1));
  InitialValues again = initial_values(graph, 2);
  load_variables(file, plan_load(file, graph, LoadMode::complete), again);
  EXPECT_EQ(again, values);
}

}  // namespace
}  // namespace bench
