#include "models/passes/fuse_concat.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/ir/op.h"
#include "models/ops/activation.h"
#include "models/ops/concat.h"
#include "models/ops/concat_batch_norm.h"

namespace bench {
namespace {

using testing::ElementsAre;

Support any_node(const Graph&, const Node&) { return {}; }

/// Builds small graphs over images of 1xCx3x3.
class FuseConcatTest : public testing::Test {
 protected:
  ValueId image(const std::string& name, std::int64_t channels) {
    return graph_.add_input(name, {.shape = {1, channels, 3, 3}});
  }
  ValueId concat(const std::string& name, std::vector<ValueId> parts) {
    return graph_.add_node(kConcat, name, {}, std::move(parts))[0];
  }
  ValueId norm(const std::string& name, ValueId x, bool residual = false) {
    std::vector<ValueId> inputs{x};
    for (const char* const vector : {".beta", ".mean", ".variance"}) {
      inputs.push_back(graph_.add_input(name + vector, {.shape = {graph_.shape(x)[1]}}));
    }
    if (residual) {
      inputs.push_back(x);
    }
    const BatchNormAttributes attributes{.scale = false, .epilogue = {.residual = residual}};
    return graph_.add_node(kBatchNormInference, name, attributes, inputs)[0];
  }
  ValueId relu(const std::string& name, ValueId x) {
    return graph_.add_node(kActivation, name, ActivationAttributes{}, {x})[0];
  }

  /// "name(inputs)" of each node after the pass, without batch norm's vectors.
  std::vector<std::string> fused(const SupportQuery& supports = any_node) {
    const Graph result = fuse_concat(graph_, supports);
    std::vector<std::string> nodes;
    for (const Node& node : result.nodes()) {
      std::vector<std::string> inputs;
      for (const ValueId id : node.inputs) {
        if (result.shape(id).rank() == 4) {
          inputs.push_back(result.value(id).name);
        }
      }
      nodes.push_back(fmt::format("{} {}({})", node.op->name, node.name, fmt::join(inputs, " ")));
    }
    return nodes;
  }

  Graph graph_;
};

TEST_F(FuseConcatTest, BatchNormsReadTheParts) {
  const ValueId a = concat("a", {image("x", 2), image("y", 3)});
  graph_.set_output("first", norm("n", a));
  const ValueId b = concat("b", {a, image("z", 4)});
  graph_.set_output("second", norm("m", b));
  EXPECT_THAT(fused(), ElementsAre("concat_batch_norm n(x y)", "concat_batch_norm m(x y z)"));
}

TEST_F(FuseConcatTest, KeepsAConcatThatAnotherOpReads) {
  const ValueId a = concat("a", {image("x", 2), image("y", 3)});
  graph_.set_output("first", norm("n", a));
  const ValueId b = concat("b", {a, image("z", 4)});
  graph_.set_output("second", norm("m", b));
  graph_.set_output("third", relu("r", a));
  EXPECT_THAT(fused(), ElementsAre("concat a(x y)", "batch_norm_inference n(a)",
                                   "concat_batch_norm m(x y z)", "activation r(a)"));
}

TEST_F(FuseConcatTest, KeepsTheConcatOfABatchNormWithAResidual) {
  graph_.set_output("first", norm("n", concat("a", {image("x", 2), image("y", 3)}), true));
  EXPECT_THAT(fused(), ElementsAre("concat a(x y)", "batch_norm_inference n(a a)"));
}

TEST_F(FuseConcatTest, KeepsAConcatThatIsAResult) {
  const ValueId a = concat("a", {image("x", 2), image("y", 3)});
  graph_.set_output("first", norm("n", a));
  graph_.set_output("second", a);
  EXPECT_THAT(fused(), ElementsAre("concat a(x y)", "batch_norm_inference n(a)"));
}

TEST_F(FuseConcatTest, AsksTheDevice) {
  graph_.set_output("first", norm("n", concat("a", {image("x", 2), image("y", 3)})));
  const auto all_but_the_fused = [](const Graph&, const Node& node) {
    return Support{.yes = node.op != &kConcatBatchNorm, .why_not = "none"};
  };
  EXPECT_THAT(fused(all_but_the_fused), ElementsAre("concat a(x y)", "batch_norm_inference n(a)"));
}

TEST_F(FuseConcatTest, KeepsAConcatIfTheDeviceRefusesOneOfItsReaders) {
  const ValueId a = concat("a", {image("x", 2), image("x2", 3)});
  graph_.set_output("first", norm("n", a));
  graph_.set_output("second", norm("m", concat("b", {a, a})));
  const auto refuses_m = [](const Graph&, const Node& node) {
    return Support{.yes = node.name != "m", .why_not = "none"};
  };
  EXPECT_THAT(fused(refuses_m), ElementsAre("concat a(x x2)", "batch_norm_inference n(a)",
                                            "concat b(a a)", "batch_norm_inference m(b)"));
  EXPECT_THAT(fused(), ElementsAre("concat_batch_norm n(x x2)", "concat_batch_norm m(x x2 x x2)"));
}

}  // namespace
}  // namespace bench
