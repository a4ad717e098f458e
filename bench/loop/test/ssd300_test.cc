// SSD300, compared with tf_cnn_benchmarks' own model on TensorFlow 2.21.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "bench/flags/test/usage_error.h"
#include "bench/loop/test/original_numbers.h"
#include "bench/plan/resolve_settings.h"
#include "kernels/onednn/onednn_backend.h"
#include "models/base/default_boxes.h"
#include "models/passes/backward.h"
#include "models/zoo/zoo.h"
#include "variable_mgmt/towers/tower.h"

namespace bench {
namespace {

constexpr std::int64_t kImages = 2;

/// What the original computes in f64 from the values that wavy() gives. In f32, its gradients
/// differ from these by up to 1.2 % of their norm, and ours by up to 0.8 %.
constexpr double kSsdLoss = 91.494797;
constexpr double kSsdLogitsNorm = 4724.7371;
constexpr double kSsdLogitsSum = -843.1192;
constexpr std::array<OriginalGradient, 14> kSsdGradients{{
    {"conv1.weight", 78.59845, -53.45971},
    {"bn1.bias", 1.431328, -0.3800442},
    {"layer1.2.conv2.weight", 26.37982, 5.49853},
    {"layer2.0.downsample.0.weight", 11.64323, -9.411795},
    {"layer3.5.bn2.weight", 2.545391, -1.566182},
    {"extra.0.conv1.weight", 27.13544, 4.477553},
    {"extra.0.conv2.bias", 0.7414751, 0.7460838},
    {"extra.4.conv2.weight", 0.2287635, 0.08457998},
    {"offsets.0.weight", 17.73775, -4.978548},
    {"scores.0.weight", 253.9648, -8.844936},
    {"offsets.2.bias", 0.02940278, -0.008810333},
    {"scores.3.bias", 0.01681473, -0.004230189},
    {"offsets.5.weight", 0.2225913, -0.03321499},
    {"scores.5.weight", 0.1113854, 0.07713371},
}};

/// Number i of the values without randomness, between -1 and 1.
double wave(double begin, std::size_t i) {
  const auto place = static_cast<double>(i);
  return std::sin(begin + 0.37 * place + 0.0001 * place * place);
}

/// Trained variable k has mean + scale * wave(1 + k).
InitialValues wavy(const Graph& graph) {
  InitialValues values;
  int number = 0;
  for (const Variable& variable : graph.variables()) {
    const Shape& shape = graph.shape(variable.value);
    std::vector<float>& elements = values[graph.value(variable.value).name];
    elements.resize(static_cast<std::size_t>(shape.elements()));
    if (!variable.trainable()) {
      continue;
    }
    const double mean = variable.role == VariableRole::scale ? 1 : 0;
    const double scale =
        shape.rank() == 4
            ? 2 / std::sqrt(static_cast<double>(shape.elements()) / static_cast<double>(shape[0]))
            : 0.1;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements[i] = static_cast<float>(mean + scale * wave(1 + number, i));
    }
    ++number;
  }
  return values;
}

std::vector<float> waves(double begin, double scale, std::int64_t per_example) {
  std::vector<float> values;
  for (int n = 0; n < kImages; ++n) {
    for (std::int64_t i = 0; i < per_example; ++i) {
      values.push_back(static_cast<float>(scale * wave(begin + n, static_cast<std::size_t>(i))));
    }
  }
  return values;
}

/// 283 boxes of each image are matched, at least one in each map.
std::vector<std::int32_t> classes() {
  std::vector<std::int32_t> values;
  for (int n = 0; n < kImages; ++n) {
    for (int i = 0; i < kDefaultBoxes; ++i) {
      values.push_back((13 * i + 5 * n) % 31 == 0 || i == 8730 ? 1 + (7 * i + n) % 80 : 0);
    }
  }
  return values;
}

TEST(Ssd300, HasTheLossAndTheGradientsOfTheOriginal) {
  const Graph network =
      build_network(*find_model("ssd300", "coco"), {.batch = kImages, .num_classes = 81});
  const auto backend = make_onednn_backend({.processors = {0, 1}, .pin = false});
  Tower tower(add_backward(network, "loss"), *backend, {}, wavy(network));
  tower.write_numbers("target_offsets", waves(3, 1.5, 4 * kDefaultBoxes));
  tower.write_numbers("classes", classes());
  tower.run_canonical(waves(0, 1, 3 * kSsdImageSize * kSsdImageSize), {}, 0);
  Executor& executor = tower.executor();
  EXPECT_NEAR(executor.read_scalar("loss"), kSsdLoss, 1e-5 * kSsdLoss);
  const std::vector<float> logits = executor.read_output_as_floats("logits");
  EXPECT_NEAR(norm_of(logits), kSsdLogitsNorm, 1e-5 * kSsdLogitsNorm);
  EXPECT_NEAR(weighted_sum(logits), kSsdLogitsSum, 1e-4 * kSsdLogitsNorm);
  expect_gradients(executor, kSsdGradients, 0.02);
}

TEST(Ssd300, RefusesFlagsForClassification) {
  const auto refused = [](const std::string& flag) {
    return usage_error([&] { resolve_settings(parse({"--model=ssd300", "--device=cpu", flag})); });
  };
  EXPECT_EQ(refused("--image_size=512"),
            "--image_size: the images of ssd300 always have 300 x 300 pixels; omit this flag");
  EXPECT_EQ(refused("--input_transfer=uint8"),
            "--input_transfer=uint8: the host normalizes the images of ssd300; omit this flag");
  EXPECT_EQ(refused("--input_file=x"),
            "--input_file has images and labels, but --model=ssd300 does not classify images; omit "
            "this flag");
  EXPECT_THAT(refused("--label_smoothing=0.1"), testing::HasSubstr("needs a cross-entropy loss"));
  EXPECT_EQ(refused("--eval_during_training_every_n_steps=5"),
            "--model=ssd300: an evaluation during training needs real images; give --data_dir");
}

}  // namespace
}  // namespace bench
