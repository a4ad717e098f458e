// A small Deep Speech 2, compared with tf_cnn_benchmarks' own model on TensorFlow 2.21.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "bench/loop/test/original_numbers.h"
#include "bench/plan/input.h"
#include "kernels/onednn/onednn_backend.h"
#include "kernels/reference/reference_backend.h"
#include "models/passes/backward.h"
#include "models/zoo/deepspeech2.h"
#include "variable_mgmt/towers/tower.h"

namespace bench {
namespace {

constexpr std::int64_t kExamples = 2;
constexpr DeepSpeech2Size kSmall{.windows = 60, .characters = 8, .layers = 2, .units = 16};
constexpr Model kModel{.name = "small",
                       .printed_name = "small",
                       .dataset = "librispeech",
                       .numbers = &kDeepSpeech2Of<kSmall>,
                       .num_classes = 29};

/// What the original computes in f32 from the values that filled() gives, with two changes. Batch
/// norm is not fused, because TensorFlow's fused kernel raises the epsilon to 1.001e-5. The 1e-7
/// that the original adds to each probability is 0.
constexpr double kLoss = 41.0604057;
constexpr double kLogitsNorm = 39.7819739;
constexpr std::array<OriginalGradient, 18> kGradients{{
    {"conv0.weight", 387.42, -7.504928},
    {"conv0/batch_norm.weight", 3.323654, 0.3528521},
    {"conv0/batch_norm.bias", 5.786164, -1.043744},
    {"conv1.weight", 1347.441, 309.2146},
    {"conv1/batch_norm.weight", 3.070895, -0.4526789},
    {"conv1/batch_norm.bias", 1.970468, -0.7034732},
    {"rnn0.weight_ih", 270.6306, 30.52646},
    {"rnn0.weight_hh", 7.397431, -0.5499202},
    {"rnn0.bias_ih", 7.578599, 5.408751},
    {"rnn1/batch_norm.weight", 3.60647, -0.2135653},
    {"rnn1/batch_norm.bias", 1.577157, 0.7806495},
    {"rnn1.weight_ih", 50.33065, 1.464531},
    {"rnn1.weight_hh", 9.677508, 4.998015},
    {"rnn1.bias_ih", 4.983928, 5.667132},
    {"batch_norm.weight", 3.394444, 0.4089747},
    {"batch_norm.bias", 1.311646, 0.831761},
    {"fc.weight", 14.57847, -12.04234},
    {"fc.bias", 4.636984, 0.173974},
}};

/// The size of a variable's values around their mean.
double scale_of(std::string_view name) {
  static const std::map<std::string_view, double> kScales{
      {"conv0.weight", .05},  {"conv1.weight", .02},  {"rnn0.weight_ih", .03},
      {"rnn0.weight_hh", .2}, {"rnn1.weight_ih", .2}, {"rnn1.weight_hh", .2},
      {"fc.weight", .3}};
  const auto found = kScales.find(name);
  return found == kScales.end() ? .1 : found->second;
}

/// Values without randomness: trained variable k has mean + scale * sin(1 + 0.37 i + k).
InitialValues filled(const Graph& graph) {
  InitialValues values;
  int number = 0;
  for (const Variable& variable : graph.variables()) {
    const std::string& name = graph.value(variable.value).name;
    std::vector<float>& elements = values[name];
    elements.resize(static_cast<std::size_t>(graph.shape(variable.value).elements()));
    if (!variable.trainable()) {
      continue;
    }
    const double mean = variable.role == VariableRole::scale ? 1 : 0;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements[i] = static_cast<float>(
          mean + scale_of(name) * std::sin(1 + 0.37 * static_cast<double>(i) + number));
    }
    ++number;
  }
  return values;
}

struct Inputs {
  std::vector<float> features;
  std::vector<std::int32_t> labels;
};

Inputs inputs_of_examples() {
  Inputs inputs;
  for (int n = 0; n < kExamples; ++n) {
    for (std::int64_t i = 0; i < kSmall.windows * 161; ++i) {
      inputs.features.push_back(
          static_cast<float>(0.5 + 0.5 * std::sin(0.1 * static_cast<double>(i) + n)));
    }
    for (int i = 0; i < kSmall.characters; ++i) {
      inputs.labels.push_back((7 * i + 3 * n) % 28);
    }
  }
  return inputs;
}

void write_inputs(Tower& tower) {
  const Inputs inputs = inputs_of_examples();
  tower.write_numbers("features", inputs.features);
  tower.write_numbers("labels", inputs.labels);
  tower.write_numbers("label_counts", std::vector<std::int32_t>(kExamples, kSmall.characters));
  tower.write_numbers("frames", std::vector<std::int32_t>(kExamples, kSmall.windows / 4));
}

/// `tolerance` is a share of each number.
void expect_the_originals_numbers(Backend& backend, DType dtype, const ExecutorOptions& options,
                                  double tolerance) {
  const Graph network =
      build_network(kModel, {.batch = kExamples, .num_classes = 29, .dtype = dtype});
  Tower tower(add_backward(network, "loss"), backend, options, filled(network));
  write_inputs(tower);
  tower.run_canonical({}, {}, 0);
  Executor& executor = tower.executor();
  EXPECT_NEAR(executor.read_scalar("loss"), kLoss, tolerance * kLoss);
  EXPECT_NEAR(norm_of(executor.read_output_as_floats("logits")), kLogitsNorm,
              tolerance * kLogitsNorm);
  expect_gradients(executor, kGradients, 10 * tolerance);
}

/// Runs on the second half of a batch, as the second of two towers does.
void run_as_second_tower(Tower& tower) {
  constexpr auto kBoth = static_cast<std::size_t>(2 * kExamples);
  const Inputs inputs = inputs_of_examples();
  // The first half is different, and valid.
  const auto after_others = [](const auto& values) {
    auto both = values;
    std::ranges::reverse(both);
    both.insert(both.end(), values.begin(), values.end());
    return both;
  };
  const std::vector<float> features = after_others(inputs.features);
  const std::vector<std::int32_t> labels = after_others(inputs.labels);
  const auto counts = [](std::int64_t count) {
    std::vector<std::int32_t> both(kBoth, static_cast<std::int32_t>(count));
    std::fill_n(both.begin(), kExamples, both.back() - 1);
    return both;
  };
  const std::vector<std::int32_t> characters = counts(kSmall.characters);
  const std::vector<std::int32_t> frames = counts(kSmall.windows / 4);
  const std::array<BatchNumbers, 4> numbers{
      {{.input = "features",
        .dtype = DType::f32,
        .values = features.data(),
        .per_example = features.size() / kBoth},
       {.input = "labels", .values = labels.data(), .per_example = labels.size() / kBoth},
       {.input = "label_counts", .values = characters.data(), .per_example = 1},
       {.input = "frames", .values = frames.data(), .per_example = 1}}};
  InputBatch batch;
  batch.numbers = numbers;
  feed_examples(tower, batch, kExamples);
  tower.set_parameters({.number = 0});
  tower.upload_parameters();
  tower.enqueue_run();
  tower.wait();
}

TEST(DeepSpeech2, ReadsTheExamplesOfItsTower) {
  const auto backend = make_reference_backend();
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Graph network =
        build_network(kModel, {.batch = kExamples, .num_classes = 29, .dtype = dtype});
    Tower tower(network, *backend, {}, filled(network));
    run_as_second_tower(tower);
    EXPECT_NEAR(tower.executor().read_scalar("loss"), kLoss, 1e-4);
  }
}

TEST(DeepSpeech2, ReadsOnlyFeaturesInInference) {
  const auto backend = make_reference_backend();
  const Graph network =
      build_network(kModel, {.batch = kExamples, .num_classes = 29, .training = false});
  Tower tower(network, *backend, {}, filled(network));
  EXPECT_EQ(tower.number_inputs(), std::vector<std::string>{"features"});
  run_as_second_tower(tower);
  const std::vector<float> fed = tower.executor().read_output_as_floats("logits");
  tower.write_numbers("features", inputs_of_examples().features);
  tower.run_canonical({}, {}, 0);
  EXPECT_EQ(tower.executor().read_output_as_floats("logits"), fed);
}

TEST(DeepSpeech2, HasTheLossAndTheGradientsOfTheOriginal) {
  expect_the_originals_numbers(*make_reference_backend(), DType::f64, {}, 1e-5);
}

TEST(DeepSpeech2, HasTheOriginalsNumbersOnACpuInEitherLayout) {
  const auto backend = make_onednn_backend({.processors = {0, 1}, .pin = false});
  for (const DataFormat format : {DataFormat::nchw, DataFormat::nhwc}) {
    expect_the_originals_numbers(*backend, DType::f32, {.format = format}, 3e-5);
  }
}

}  // namespace
}  // namespace bench
