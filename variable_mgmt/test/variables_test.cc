#include "variable_mgmt/variables.h"

#include <gtest/gtest.h>

#include <cmath>

#include "models/base/errors.h"
#include "models/base/philox.h"

namespace bench {
namespace {

using Kind = Initializer::Kind;

constexpr std::uint64_t kSeed = 7;
constexpr std::size_t kMany = 2 * kDrawnAtOnce + 1;

void add(Graph& graph, const std::string& name, const Initializer& initial) {
  graph.add_variable(name, {.shape = {kMany}}, VariableRole::weight, initial);
}

TEST(InitialValues, ComeFromEachVariablesStreamInOrder) {
  Graph graph;
  add(graph, "constant", {.mean = 3});
  add(graph, "normal", {.kind = Kind::normal, .mean = 3, .stddev = 0.5});
  add(graph, "truncated", {.kind = Kind::truncated_normal, .mean = 3, .stddev = 0.5});
  add(graph, "uniform", {.kind = Kind::uniform, .mean = 3, .stddev = 0.5});
  const InitialValues values = initial_values(graph, kSeed);

  for (const auto& [name, drawn] : values) {
    ASSERT_EQ(drawn.size(), kMany) << name;
  }
  RandomStream normal(kSeed, hash_name("normal"));
  RandomStream truncated(kSeed, hash_name("truncated"));
  RandomStream uniform(kSeed, hash_name("uniform"));
  for (std::size_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(values.at("constant")[i], 3);
    ASSERT_FLOAT_EQ(values.at("normal")[i], 3 + 0.5F * normal.normal());
    ASSERT_FLOAT_EQ(values.at("truncated")[i], 3 + 0.5F * truncated.truncated_normal());
    ASSERT_FLOAT_EQ(values.at("uniform")[i],
                    3 + 0.5F * std::sqrt(3.0F) * (2 * uniform.uniform() - 1));
  }
}

TEST(InitialValues, DependOnSeedAndNameAlone) {
  Graph one;
  Graph two;
  const Initializer normal{.kind = Initializer::Kind::truncated_normal, .mean = 0, .stddev = 2};
  const TensorType type{.dtype = DType::f32, .shape = {50, 20}};
  one.add_variable("x", type, VariableRole::weight, normal);
  two.add_variable("y", type, VariableRole::weight, normal);
  two.add_variable("x", type, VariableRole::mean, normal);
  const auto a = initial_values(one, 7);
  const auto b = initial_values(two, 7);
  EXPECT_EQ(a.at("x"), b.at("x"));
  EXPECT_NE(b.at("x"), b.at("y"));
  EXPECT_NE(a.at("x"), initial_values(one, 8).at("x"));
}

TEST(InitialValues, ReportProgressAndEndWhenTheWatchThrows) {
  Graph graph;
  add(graph, "normal", {.kind = Kind::normal});
  std::int64_t calls = 0;
  const auto count = [&](std::int64_t done, std::int64_t total) {
    EXPECT_LE(done, total);
    EXPECT_EQ(total, 3);
    ++calls;
  };
  EXPECT_EQ(initial_values(graph, kSeed, count).at("normal").size(), kMany);
  EXPECT_GE(calls, 1);
  EXPECT_LE(calls, 4);
  EXPECT_THROW(initial_values(graph, kSeed, [](auto, auto) { throw DataError("enough"); }),
               DataError);
}

}  // namespace
}  // namespace bench
