// One step of every model, forward and backward, on oneDNN.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>

#include "bench/plan/input.h"
#include "bench/plan/network.h"
#include "bench/plan/resolve_settings.h"
#include "kernels/onednn/onednn_backend.h"
#include "models/base/errors.h"
#include "models/base/philox.h"
#include "variable_mgmt/towers/tower.h"

namespace bench {
namespace {

constexpr std::int64_t kBatch = 2;

/// The published L2 terms of the original's first step, with a weight decay of 4e-5.
const std::map<std::string_view, double>& published_l2() {
  static const std::map<std::string_view, double> kTerms{
      {"trivial", .1423},     {"lenet", .0333},        {"alexnet", .2946},
      {"overfeat", .2956},    {"vgg11", .3241},        {"vgg16", .3535},
      {"vgg19", .3791},       {"googlenet", .1611},    {"inception3", .3598},
      {"inception4", .6472},  {"resnet50", .5467},     {"resnet50_v1.5", .5467},
      {"resnet50_v2", .5467}, {"resnet101", 1.0689},   {"resnet101_v2", 1.0689},
      {"resnet152", 1.5297},  {"resnet152_v2", 1.5297}};
  return kTerms;
}

/// A smaller image for networks that accept one and would be slow; their variables stay the same.
std::int64_t image_size(const Model& model) {
  static const std::map<std::string_view, std::int64_t> kReduced{
      {"nasnetlarge", 107},       {"inception4", 139},
      {"official_resnet200", 96}, {"official_resnet200_v2", 96},
      {"official_resnet152", 96}, {"official_resnet152_v2", 96},
      {"resnet152", 96},          {"resnet152_v2", 96},
      {"densenet201", 96},        {"densenet169", 96},
      {"wide_resnet50_2", 96}};
  const auto found = kReduced.find(model.name);
  return model.dataset == "imagenet" && found != kReduced.end() ? found->second : model.image_size;
}

/// The standard deviation of the L2 term over draws of the graph's weights. All weights are normal
/// numbers z, truncated at two deviations.
double l2_deviation(const Graph& graph, double weight_decay) {
  // E z^4 - (E z^2)^2, where E z^4 = 3 E z^2 - 16 phi(2) / (2 Phi(2) - 1).
  constexpr double kCutSquaresVariance = 0.8175;
  double variance = 0;
  for (const Variable& variable : graph.variables()) {
    if (variable.decayed() && variable.initial.kind != Initializer::Kind::constant) {
      EXPECT_EQ(variable.initial.kind, Initializer::Kind::truncated_normal);
      variance += static_cast<double>(graph.shape(variable.value).elements()) *
                  kCutSquaresVariance * std::pow(variable.initial.stddev, 4);
    }
  }
  return weight_decay / 2 * std::sqrt(variance);
}

/// A gradient's reorder directly follows the kernel that computes the gradient.
void expect_gradients_final_where_made(const Executor& executor) {
  const LoweredGraph& plan = executor.plan();
  for (const auto& trained : plan.trained) {
    const ValueId value = plan.buffers[trained.gradient].value;
    const auto makes = [&](const Step& step) {
      return std::any_of(step.outputs.begin(), step.outputs.end(),
                         [&](std::size_t buffer) { return plan.buffers[buffer].value == value; });
    };
    const auto maker = std::find_if(plan.steps.begin(), plan.steps.end(), makes);
    for (auto step = maker + 1;
         step <= plan.steps.begin() + static_cast<std::ptrdiff_t>(trained.final_step); ++step) {
      EXPECT_EQ(step->op, "reorder") << plan.buffers[trained.variable].name;
    }
  }
}

using Parameter = std::tuple<Model, DataFormat>;

class ZooStep : public testing::TestWithParam<Parameter> {
 protected:
  static void SetUpTestSuite() {
    backend_ = make_onednn_backend({.processors = {0, 1}, .pin = false});
  }
  static void TearDownTestSuite() { backend_.reset(); }

  static std::unique_ptr<Backend>
      backend_;  // NOLINT(*-non-const-global-variables): threads are dear
};
std::unique_ptr<Backend> ZooStep::backend_;  // NOLINT(*-non-const-global-variables)

TEST_P(ZooStep, HasAFiniteLossFiniteGradientsAndThePublishedL2Term) {
  const auto& [model, format] = GetParam();
  ParseResult parsed;
  parsed.flags.model = model.name;
  parsed.flags.data_name = model.dataset;
  parsed.batch = read_batch_request(fmt::format("{}", kBatch));
  RunSettings settings = resolve_settings(parsed);
  settings.workload.image_size = image_size(model);
  settings.execution.format = format;
  const Graph graph = build_run_graph(settings, *backend_, kBatch);
  Tower tower(graph, *backend_, {.format = format}, initial_values(graph, 1234));

  if (model.classifies_images()) {
    RandomStream random(1);
    std::vector<float> images(kBatch * tower.elements_of_image());
    std::generate(images.begin(), images.end(), [&] { return random.normal(); });
    const std::array<std::int32_t, kBatch> labels{
        1, static_cast<std::int32_t>(settings.workload.num_classes) - 1};
    tower.run_canonical(images, labels, 0);
  } else {
    const auto input = make_run_input(settings, image_layout(settings.workload, tower.executor()));
    feed_examples(tower, input->next());
    tower.set_parameters({.number = 0});
    tower.upload_parameters();
    tower.enqueue_run();
    tower.wait();
  }

  Executor& executor = tower.executor();
  const double loss = executor.read_scalar("loss");
  EXPECT_TRUE(std::isfinite(loss)) << loss;
  EXPECT_GT(loss, 0);
  bool nothing_flows = true;
  for (const Variable& variable : executor.graph().variables()) {
    if (!variable.trainable()) {
      continue;
    }
    const std::string& name = executor.graph().value(variable.value).name;
    const auto gradient = executor.read_gradient(name);
    EXPECT_TRUE(std::all_of(gradient.begin(), gradient.end(), [](float value) {
      return std::isfinite(value);
    })) << name;
    nothing_flows = nothing_flows && std::all_of(gradient.begin(), gradient.end(),
                                                 [](float value) { return value == 0; });
  }
  EXPECT_FALSE(nothing_flows);
  expect_gradients_final_where_made(executor);
  const auto published = published_l2().find(model.name);
  if (model.dataset == "imagenet" && published != published_l2().end()) {
    // The published term is another draw of the same distribution, rounded to four decimals.
    const double deviation =
        std::numbers::sqrt2 * l2_deviation(graph, settings.workload.optimizer.weight_decay);
    EXPECT_NEAR(executor.read_scalar("l2_loss"), published->second, 4 * deviation + 5e-5);
  }
}

std::string zoo_step_name(const testing::TestParamInfo<Parameter>& info) {
  const auto& [model, format] = info.param;
  std::string name = fmt::format("{}_{}_{}", model.dataset, model.name, name_of(format));
  std::ranges::replace_if(
      name, [](char c) { return c == '.' || c == '-'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ZooStep,
                         testing::Combine(testing::ValuesIn(all_models().begin(),
                                                            all_models().end()),
                                          testing::Values(DataFormat::nchw, DataFormat::nhwc)),
                         zoo_step_name);

}  // namespace
}  // namespace bench
