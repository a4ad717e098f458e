#include "variable_mgmt/fingerprint.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "models/base/errors.h"
#include "models/base/philox.h"

namespace bench {
namespace {

constexpr std::uint64_t kSeed = 0x62656E6368;
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

/// As many copies of the one image, and of its label, as the graph's batch holds.
void run_on_copies(Tower& tower, const InitialValues& values) {
  const Graph& graph = tower.executor().graph();
  tower.write_variables(values);
  tower.set_loss_scale(1);
  const Shape& shape = tower.find_input("images")->shape;
  const auto batch = static_cast<std::size_t>(shape[0]);
  const std::size_t pixels = static_cast<std::size_t>(shape.elements()) / batch;
  RandomStream random(kSeed, hash_name("image"));
  std::vector<float> images(batch * pixels);
  for (std::size_t i = 0; i < pixels; ++i) {
    images[i] = random.normal();
  }
  for (std::size_t n = 1; n < batch; ++n) {
    std::memcpy(images.data() + n * pixels, images.data(), pixels * sizeof(float));
  }
  const auto classes = static_cast<std::uint32_t>(graph.shape(graph.output("logits"))[1]);
  const std::vector<std::int32_t> labels(batch, static_cast<std::int32_t>(random.below(classes)));
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

Fingerprint measure_training_fingerprint(Tower& tower, const InitialValues& values) {
  run_on_copies(tower, values);
  Executor& executor = tower.executor();
  const Graph& graph = executor.graph();
  Fingerprint print{.loss = executor.read_scalar("loss")};
  double sum = 0;
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
    sum += squares;
  }
  print.gradient_norm = std::sqrt(sum);
  return print;
}

Fingerprint measure_inference_fingerprint(Tower& tower, const InitialValues& values) {
  run_on_copies(tower, values);
  Executor& executor = tower.executor();
  const std::int64_t batch = tower.find_input("images")->shape[0];
  const double squares = square_sum(executor.read_output_as_floats("logits"));
  return {.logits_norm = std::sqrt(squares / static_cast<double>(batch))};
}

}  // namespace bench
