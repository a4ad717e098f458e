#include "variable_mgmt/fingerprint.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "models/base/errors.h"
#include "models/base/philox.h"

namespace bench {
namespace {

// One of five tried, for what rounding does to the deep networks for CIFAR-10: with one of the
// others f32 moved densenet100_k12's first gradient by 1.9e-3, with one bf16 resnet110's mean one
// by 6.3e-2.
constexpr std::uint64_t kSeed = 0x62656E636C;
constexpr std::size_t kImages = 2;
constexpr double kSpread = 0.1;
// Moves batch norm's output so that a ReLU behind it cuts one value of 700. Where it cuts half of
// them, many lie within rounding of 0, and the gradients of a hundred layers are known to one per
// cent only.
constexpr float kShift = 3;

// Scales the fully connected layers of networks with batch norm, whose features are that much
// larger by then: else the softmax would be all but certain, and a right guess would have no
// gradient.
constexpr float kHeadScale = 1.0F / 64;

/// Batch norm alone has variables that begin constant, are trained and do not decay; its beta
/// begins with 0.
bool is_beta(const Variable& variable) {
  return variable.trainable && !variable.decayed && variable.initial.mean == 0;
}

double square_sum(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) {
    sum += static_cast<double>(value) * static_cast<double>(value);
  }
  return sum;
}

/// Runs the tower on a batch whose image i, with its label, is number (first + i) % 2 of the two.
void run_on_two_images(Tower& tower, std::size_t first) {
  const Graph& graph = tower.executor().graph();
  tower.set_loss_scale(1);
  const Shape& shape = tower.find_input("images")->shape;
  const auto batch = static_cast<std::size_t>(shape[0]);
  const std::size_t pixels = static_cast<std::size_t>(shape.elements()) / batch;
  const auto classes = static_cast<std::uint32_t>(graph.shape(graph.output("logits"))[1]);
  std::vector<float> images(batch * pixels);
  std::vector<std::int32_t> labels(batch);
  for (std::size_t n = 0; n < batch; ++n) {
    if (n >= kImages) {
      std::memcpy(images.data() + n * pixels, images.data() + (n - kImages) * pixels,
                  pixels * sizeof(float));
      labels[n] = labels[n - kImages];
      continue;
    }
    RandomStream random(kSeed, hash_name(cat("image", (first + n) % kImages)));
    for (std::size_t i = 0; i < pixels; ++i) {
      images[n * pixels + i] = random.normal();
    }
    labels[n] = static_cast<std::int32_t>(random.below(classes));
  }
  constexpr std::int32_t kNothingDropped = -1;
  tower.run_canonical(images, labels, kNothingDropped);
}

}  // namespace

InitialValues fingerprint_values(const Graph& graph) {
  InitialValues values = initial_values(graph, kSeed);
  const auto variables = graph.variables();
  const bool normalised = std::any_of(variables.begin(), variables.end(), is_beta);
  for (const Variable& variable : variables) {
    if (normalised && graph.shape(variable.value).rank() == 2) {
      for (float& value : values.at(graph.value(variable.value).name)) {
        value *= kHeadScale;
      }
    }
    if (variable.initial.kind != Initializer::Kind::constant) {
      continue;
    }
    const std::string& name = graph.value(variable.value).name;
    RandomStream random(kSeed, hash_name(name));
    for (float& value : values.at(name)) {
      value += static_cast<float>(kSpread) * random.normal() + (is_beta(variable) ? kShift : 0);
    }
  }
  return values;
}

std::string fingerprint_refusal(std::int64_t batch) {
  // With batch norm the numbers depend on the share of the batch that each image has.
  return batch % static_cast<std::int64_t>(kImages) == 0
             ? ""
             : cat("the batch size of ", batch,
                   " is odd, and each of the fingerprint's two images needs half of the batch");
}

Fingerprint measure_training_fingerprint(Tower& tower, const InitialValues& values) {
  const std::string refusal = fingerprint_refusal(tower.find_input("images")->shape[0]);
  check(refusal.empty(), refusal);
  tower.write_variables(values);
  run_on_two_images(tower, 0);
  Executor& executor = tower.executor();
  const Graph& graph = executor.graph();
  Fingerprint print{.loss = executor.read_scalar("loss")};
  double sum = 0;
  double log_sum = 0;
  std::size_t weights = 0;
  bool first = true;
  for (const Variable& variable : graph.variables()) {
    if (!variable.trainable) {
      continue;
    }
    const double squares = square_sum(executor.read_gradient(graph.value(variable.value).name));
    if (first) {
      print.first_gradient_norm = std::sqrt(squares);
      first = false;
    }
    if (graph.shape(variable.value).rank() >= 2) {
      log_sum += std::log(squares) / 2;
      ++weights;
    }
    sum += squares;
  }
  print.gradient_norm = std::sqrt(sum);
  print.mean_weight_gradient = std::exp(log_sum / static_cast<double>(weights));
  return print;
}

Fingerprint measure_inference_fingerprint(Tower& tower, const InitialValues& values) {
  tower.write_variables(values);
  const std::int64_t batch = tower.find_input("images")->shape[0];
  const std::size_t runs = static_cast<std::size_t>(batch) % kImages == 0 ? 1 : kImages;
  double squares = 0;
  for (std::size_t run = 0; run < runs; ++run) {
    run_on_two_images(tower, run);
    squares += square_sum(tower.executor().read_output_as_floats("logits"));
  }
  return {.logits_norm =
              std::sqrt(squares / static_cast<double>(runs) / static_cast<double>(batch))};
}

}  // namespace bench
