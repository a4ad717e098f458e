#include "bench/verify/update_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "kernels/forwarding_backend.h"
#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "models/ir/op.h"
#include "models/ops/conv2d.h"
#include "models/ops/embedding.h"
#include "models/ops/loss.h"
#include "models/ops/spatial_mean.h"
#include "models/passes/backward.h"
#include "models/passes/mixed_precision.h"
#include "models/passes/sparse_gradients.h"

namespace bench {
namespace {

// The tolerance of fingerprint_tolerances.cc.
constexpr double kTolerance = 1e-6;
constexpr std::int64_t kPixels = 64;

/// Two convolutions over pixels in a row. The second's filters have the role of scales, which are
/// not decayed. Computes in `dtype`.
Graph two_convolutions(DType dtype) {
  Graph graph;
  ValueId x = graph.add_input("images", {.dtype = DType::f32, .shape = {1, 3, 1, kPixels}});
  const auto add_conv = [&](const char* name, std::int64_t out, std::int64_t in,
                            VariableRole role) {
    const ValueId weights =
        graph.add_variable(name, {.dtype = DType::f32, .shape = {out, in, 1, 1}}, role,
                           {.kind = Initializer::Kind::normal, .stddev = 0.1});
    x = graph.add_node(kConv2d, name, Conv2dAttributes{}, {x, weights})[0];
  };
  add_conv("a", 64, 3, VariableRole::weight);
  add_conv("b", 1, 64, VariableRole::scale);
  graph.set_output("loss", graph.add_node(kSpatialMean, "mean", {}, {x})[0]);
  return add_backward(
      is_half(dtype) ? mixed_precision(graph, dtype, Weights16::cast) : std::move(graph), "loss");
}

using Alter = std::function<void(StepState&)>;
/// A backend fault: the optimizers do something other than requested.
struct Fault {
  std::function<void(OptimizerSettings&)> settings = [](OptimizerSettings&) {};
  Alter scalars = [](StepState&) {};
  bool resets = true;
  bool copies = true;
  /// Updates all rows of sparse gradients, including the last.
  bool rows = true;
};

class AlteredOptimizer final : public Optimizer {
 public:
  AlteredOptimizer(std::unique_ptr<Optimizer> inner, const Fault& fault)
      : inner_(std::move(inner)),
        alter_(fault.scalars),
        resets_(fault.resets),
        copies_(fault.copies),
        rows_(fault.rows) {}
  void reset(Stream& stream, std::span<void* const> slots, StepState* state) override {
    if (resets_) {
      inner_->reset(stream, slots, state);
    }
  }
  void judge(Stream& stream, const void* gradients, StepState* state) override {
    inner_->judge(stream, gradients, state);
  }
  void launch(Stream& stream, const OptimizerMemory& memory, StepState* state) override {
    StepState altered = *state;  // Both backends share the host's memory.
    alter_(altered);
    OptimizerMemory own = memory;
    own.copies = copies_ ? memory.copies : elsewhere_.data();
    std::vector<SparseGradient> sparse(memory.sparse.begin(), memory.sparse.end());
    for (SparseGradient& gradient : sparse) {
      gradient.rows = gradient.rows.first(gradient.rows.size() - (rows_ ? 0 : 1));
    }
    own.sparse = sparse;
    inner_->launch(stream, own, &altered);
    *state = altered;
  }

 private:
  std::unique_ptr<Optimizer> inner_;
  Alter alter_;
  bool resets_;
  bool copies_;
  bool rows_;
  std::vector<std::uint16_t> elsewhere_ = std::vector<std::uint16_t>(1024);
};

class FaultyBackend final : public ForwardingBackend {
 public:
  FaultyBackend(Backend& inner, const Fault& fault) : ForwardingBackend(inner), fault_(fault) {}
  std::unique_ptr<Optimizer> make_optimizer(const OptimizerSettings& settings,
                                            std::vector<OptimizerSegment> segments) override {
    OptimizerSettings own = settings;
    fault_.settings(own);
    return std::make_unique<AlteredOptimizer>(
        ForwardingBackend::make_optimizer(own, std::move(segments)), fault_);
  }

 private:
  const Fault& fault_;
};

double difference(Backend& inner, const OptimizerSettings& settings, const Fault& fault = {},
                  float image = 1, DType dtype = DType::f32) {
  FaultyBackend backend(inner, fault);
  const Graph graph = two_convolutions(dtype);
  const InitialValues values = initial_values(graph, 1);
  TowerThreads threads(1);
  Towers towers(threads, [&](int number, TowerCommunicator& communicator) {
    TowerWithUpdate made{
        .tower = std::make_unique<Tower>(graph, backend, ExecutorOptions{}, values),
        .update = nullptr};
    made.update = find_strategy("parameter_server")
                      .make({.tower = *made.tower, .number = number, .communicator = communicator},
                            {.optimizer = settings});
    return made;
  });
  std::vector<float> images(3 * kPixels);
  for (std::size_t i = 0; i < images.size(); ++i) {
    images[i] = image * std::sin(static_cast<float>(i));
  }
  towers.first().run(images.data(), nullptr, 0);
  return largest_update_difference(towers, {.optimizer = settings}, /*joined=*/true, values);
}

/// Four classes of what is read from a table of 5000 rows, whose gradient is sparse.
Graph sparse_table() {
  Graph graph;
  const ValueId ids = graph.add_input("ids", {.dtype = DType::s32, .shape = {8}});
  const ValueId labels = graph.add_input("labels", {.dtype = DType::s32, .shape = {8}});
  const ValueId table =
      graph.add_variable("table", {.dtype = DType::f32, .shape = {5000, 4}}, VariableRole::weight,
                         {.kind = Initializer::Kind::normal, .stddev = 0.1});
  const ValueId logits = graph.add_node(kEmbedding, "read", {}, {table, ids})[0];
  graph.set_output("loss", graph.add_node(kSoftmaxCrossEntropy, "loss",
                                          SoftmaxCrossEntropyAttributes{}, {logits, labels})[0]);
  return mark_sparse_gradients(add_backward(graph, "loss"));
}

double sparse_difference(const Fault& fault, int count) {
  std::vector<std::unique_ptr<Backend>> inner(static_cast<std::size_t>(count));
  std::vector<std::unique_ptr<Backend>> backends(inner.size());
  const Graph graph = sparse_table();
  const InitialValues values = initial_values(graph, 1);
  const OptimizerSettings settings{.rule = SgdRule{}};
  TowerThreads threads(count);
  Towers towers(threads, [&](int number, TowerCommunicator& communicator) {
    const auto at = static_cast<std::size_t>(number);
    inner[at] = make_onednn_backend({.processors = {0}, .pin = false});
    backends[at] = std::make_unique<FaultyBackend>(*inner[at], fault);
    TowerWithUpdate made{
        .tower = std::make_unique<Tower>(graph, *backends[at], ExecutorOptions{}, values),
        .update = nullptr};
    made.update = find_strategy("replicated")
                      .make({.tower = *made.tower, .number = number, .communicator = communicator},
                            {.optimizer = settings});
    return made;
  });
  towers.run([&](int number) {
    const std::vector<std::int32_t> labels{0, 1, 2, 3, 0, 1, 2, 3};
    const std::vector<std::int32_t> ids{7, 0, 4999, 7, 3, 3000, 21, 900 + number};
    towers[number].write_numbers("ids", ids);
    towers[number].write_numbers("labels", labels);
    towers[number].executor().run();
  });
  return largest_update_difference(towers, {.optimizer = settings}, /*joined=*/true, values);
}

TEST(UpdateCheck, FindsARowOfASparseGradientThatIsNotUpdated) {
  for (const int towers : {1, 2}) {
    EXPECT_LT(sparse_difference({}, towers), kTolerance) << towers;
    EXPECT_GT(sparse_difference({.rows = false}, towers), 100 * kTolerance) << towers;
  }
}

std::vector<OptimizerSettings> all_settings() {
  std::vector<OptimizerSettings> found;
  std::vector<OptimizerRule> rules{RmspropRule{.decay = 0.1, .epsilon = 1e-10},
                                   AdamRule{.epsilon = 1e-3}};
  for (const OptimizerRow& row : all_optimizers()) {
    rules.push_back(row.rule);
  }
  for (const OptimizerRule& rule : rules) {
    found.push_back({.rule = rule});
    for (const double decay : {4e-5, 1e-2, 1.0}) {
      found.push_back({.rule = rule, .weight_decay = decay});
      found.push_back({.rule = rule, .weight_decay = decay, .clip = 1e-4});
    }
  }
  return found;
}

TEST(UpdateCheck, FindsOnlyRoundingWhereTheStrategyIsRight) {
  const auto backend = make_onednn_backend({.processors = {0}, .pin = false});
  for (const OptimizerSettings& settings : all_settings()) {
    for (const float image : {1e-12F, 1e-8F, 1e-4F, 1.0F, 1e4F}) {
      EXPECT_LT(difference(*backend, settings, {}, image), kTolerance)
          << row_of(settings.rule).name << ", decay " << settings.weight_decay << ", images "
          << image;
    }
  }
}

TEST(UpdateCheck, Compares16BitCopiesWithTheVariables) {
  const auto backend = make_reference_backend();
  for (const DType dtype : {DType::bf16, DType::f16}) {
    for (const OptimizerRow& row : all_optimizers()) {
      EXPECT_LT(difference(*backend, {.rule = row.rule}, {}, 1, dtype), kTolerance) << row.name;
    }
    EXPECT_TRUE(std::isinf(difference(*backend, {}, {.copies = false}, 1, dtype)));
  }
}

TEST(UpdateCheck, FindsCoefficientsThatAreOffByAThousandth) {
  const auto backend = make_reference_backend();
  const auto expect_found = [&](const OptimizerRule& rule, const OptimizerRule& wrong) {
    const Fault fault{.settings = [&](OptimizerSettings& settings) { settings.rule = wrong; }};
    EXPECT_GT(difference(*backend, {.rule = rule, .weight_decay = 4e-5}, fault), 2 * kTolerance)
        << row_of(rule).name;
  };
  expect_found(MomentumRule{}, MomentumRule{.momentum = 0.9009});
  expect_found(RmspropRule{}, RmspropRule{.decay = 0.9009});
  expect_found(RmspropRule{}, RmspropRule{.momentum = 0.9009});
  expect_found(RmspropRule{}, RmspropRule{.epsilon = 1.001});
  expect_found(AdamRule{}, AdamRule{.beta1 = 0.9009});
  expect_found(AdamRule{}, AdamRule{.beta2 = 0.998});
  expect_found(AdamRule{}, AdamRule{.epsilon = 2e-8});
  expect_found(LarsRule{}, LarsRule{.trust_coefficient = 0.001001});
  expect_found(LarsRule{}, LarsRule{.momentum = 0.9009});
  expect_found(LarsRule{.epsilon = 1}, LarsRule{.epsilon = 1.001});
}

TEST(UpdateCheck, FindsAForgottenPartOfAnUpdate) {
  const auto backend = make_reference_backend();
  const auto expect_found = [&](const OptimizerRule& rule, const Fault& fault, const char* what) {
    EXPECT_GT(difference(*backend, {.rule = rule, .weight_decay = 4e-5}, fault), 2 * kTolerance)
        << row_of(rule).name << ": " << what;
  };
  const Fault no_decay{.settings = [](OptimizerSettings& s) { s.weight_decay = 0; }};
  const Fault no_scale{.scalars = [](StepState& s) { s.parameters.gradient_scale = 1; }};
  const Fault no_count{.scalars = [](StepState& s) { s.updates = 0; }};
  for (const OptimizerRow& row : all_optimizers()) {
    expect_found(row.rule, no_decay, "no decay");
    expect_found(row.rule, no_scale, "no scale");
  }
  expect_found(AdamRule{}, no_count, "counts no updates");
  expect_found(RmspropRule{}, {.resets = false}, "its slots have no first values");
}

}  // namespace
}  // namespace bench
