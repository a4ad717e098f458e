#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "models/ir/graph.h"

namespace bench {

class NetworkBuilder;

/// The learning-rate schedule that comes with a model; see variable_mgmt/learning_rate.h.
enum class ModelRate : std::uint8_t { constant, resnet };

/// One row of zoo.inc: a network and the facts that its tests hold it to.
struct Model {
  std::string_view name;
  /// The name that the header of a run shows.
  std::string_view printed_name;
  std::string_view dataset;
  std::int64_t image_size = 0;
  std::int64_t default_batch = 0;
  /// Trainable scalars with the dataset's own number of classes.
  std::int64_t parameters = 0;
  /// Multiply-adds of convolutions and fully connected layers, per image forward.
  std::int64_t multiply_adds = 0;
  ModelRate rate = ModelRate::constant;
  /// From images[N,3,S,S] to features[N,F]; the head is added by build_network.
  ValueId (*build)(NetworkBuilder&, ValueId images) = nullptr;
};

/// All models, in the order of zoo.inc.
std::span<const Model> all_models();
/// The model of that name, or nullptr.
const Model* find_model(std::string_view name);

struct NetworkOptions {
  std::int64_t batch = 1;
  std::int64_t num_classes = 1001;
  /// Training: batch statistics, dropout and the loss; otherwise the logits alone.
  bool training = true;
  /// Outputs top_1 and top_5.
  bool accuracies = false;
  /// Coefficient of the L2 sum, output l2_loss (training only).
  double weight_decay = 4e-5;
  std::uint64_t seed = 1234;
};

/// The whole forward network: inputs images f32[N,3,S,S] and labels s32[N] (and step, where dropout
/// needs it); outputs logits, and as asked loss, l2_loss, top_1, top_5. The last layer is `fc`.
Graph build_network(const Model& model, const NetworkOptions& options);

}  // namespace bench
