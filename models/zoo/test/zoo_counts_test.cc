#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "models/ir/op.h"
#include "models/ops/batch_norm.h"
#include "models/zoo/zoo.h"

namespace bench {
namespace {

constexpr int kNotGiven = -1;
/// The variance of a normal distribution truncated at two deviations, as a share of the untruncated
/// one.
constexpr double kCutVariance = 0.77374;

/// A row of golden_counts.inc.
struct GoldenCounts {
  std::string_view name;
  std::string_view dataset;
  std::int64_t scalars = 0;
  std::int64_t variables = kNotGiven;
  double multiply_adds = kNotGiven;
  double rounded_to = 1;
  std::int64_t gammas = kNotGiven;
  std::int64_t betas = kNotGiven;
  std::int64_t decayed_scalars = kNotGiven;
  double l2_loss = kNotGiven;
};

std::ostream& operator<<(std::ostream& out, const GoldenCounts& row) {
  return out << row.name << ", " << row.dataset;
}

constexpr GoldenCounts kGolden[] = {
#include "models/zoo/test/golden_counts.inc"
};

std::int64_t classes_of(const Model& model) {
  if (model.num_classes > 0) {
    return model.num_classes;
  }
  return model.dataset == "ptb" ? 10000 : model.dataset == "cifar10" ? 11 : 1001;
}

/// Trainable scalars, by purpose.
struct Counts {
  std::int64_t scalars = 0;
  std::int64_t variables = 0;
  std::int64_t decayed_scalars = 0;
  std::int64_t gammas = 0;
  std::int64_t betas = 0;
};

Counts count(const Graph& graph) {
  Counts counts;
  for (const Variable& variable : graph.variables()) {
    if (variable.trainable()) {
      const std::int64_t elements = graph.shape(variable.value).elements();
      counts.scalars += elements;
      ++counts.variables;
      counts.decayed_scalars += variable.decayed() ? elements : 0;
    }
  }
  for (const Node& node : graph.nodes()) {
    if (node.op == &kBatchNorm) {
      const auto at = batch_norm_inputs(node.attributes.as<BatchNormAttributes>());
      const auto elements = [&](int position) {
        return position < 0
                   ? 0
                   : graph.shape(node.inputs.at(static_cast<std::size_t>(position))).elements();
      };
      counts.gammas += elements(at.gamma);
      counts.betas += elements(at.beta);
    }
  }
  return counts;
}

/// The expected square of an element.
double expected_square(const Initializer& initial) {
  const double share = initial.kind == Initializer::Kind::truncated_normal ? kCutVariance : 1;
  return initial.mean * initial.mean + share * initial.stddev * initial.stddev;
}

double expected_l2_loss(const Graph& graph, double weight_decay) {
  double sum = 0;
  for (const Variable& variable : graph.variables()) {
    if (variable.decayed()) {
      sum += static_cast<double>(graph.shape(variable.value).elements()) *
             expected_square(variable.initial);
    }
  }
  return weight_decay * sum / 2;
}

class ZooCounts : public testing::TestWithParam<GoldenCounts> {};

TEST_P(ZooCounts, AgreeWithTheIndependentCount) {
  const GoldenCounts& golden = GetParam();
  const Model* model = find_model(golden.name, golden.dataset);
  ASSERT_NE(model, nullptr) << golden;
  const NetworkOptions options{.batch = 1, .num_classes = classes_of(*model)};
  const Graph graph = build_network(*model, options);
  const Counts counts = count(graph);
  EXPECT_EQ(counts.scalars, golden.scalars);
  const auto macs = static_cast<double>(multiply_adds(graph));
  EXPECT_EQ(std::llround(macs / golden.rounded_to),
            std::llround(golden.multiply_adds / golden.rounded_to))
      << macs << " multiply-adds";
  // The L2 sum omits batch norm's variables, and only those.
  EXPECT_EQ(counts.decayed_scalars, counts.scalars - counts.gammas - counts.betas);
  const auto expect_if_given = [](std::int64_t counted, std::int64_t given, const char* what) {
    EXPECT_TRUE(given == kNotGiven || counted == given)
        << what << ": " << counted << " instead of " << given;
  };
  expect_if_given(counts.variables, golden.variables, "trainable variables");
  expect_if_given(counts.gammas, golden.gammas, "gammas");
  expect_if_given(counts.betas, golden.betas, "betas");
  expect_if_given(counts.decayed_scalars, golden.decayed_scalars, "scalars in the L2 sum");
  if (golden.l2_loss >= 0) {
    EXPECT_NEAR(expected_l2_loss(graph, options.weight_decay), golden.l2_loss,
                0.01 * golden.l2_loss);
  }
}

std::string test_name(std::string_view dataset, std::string_view model) {
  std::string name = fmt::format("{}_{}", dataset, model);
  std::ranges::replace_if(
      name, [](char c) { return c == '.' || c == '-'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ZooCounts, testing::ValuesIn(kGolden), [](const auto& row) {
  return test_name(row.param.dataset, row.param.name);
});

TEST(GoldenCounts, HaveOneRowForEveryModel) {
  std::multiset<std::string> rows;
  for (const GoldenCounts& row : kGolden) {
    rows.insert(test_name(row.dataset, row.name));
  }
  for (const Model& model : all_models()) {
    EXPECT_EQ(rows.count(test_name(model.dataset, model.name)), 1)
        << model.dataset << " " << model.name;
  }
}

}  // namespace
}  // namespace bench
