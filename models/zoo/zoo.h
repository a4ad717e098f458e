#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "models/ir/graph.h"
#include "models/zoo/model_rate.h"

namespace bench {

class NetworkBuilder;

/// One row of zoo.inc. Everything else, counts included, is derived from the graph.
struct Model {
  std::string_view name;
  /// The name that the header of a run shows.
  std::string_view printed_name;
  std::string_view dataset;
  std::int64_t image_size = 0;
  std::int64_t default_batch = 0;
  /// Classes that the model's definition fixes; 0: the dataset's.
  std::int64_t num_classes = 0;
  ModelRate rate = ModelRate::constant;
  /// From images[N,C,S,S] to logits[N,classes].
  ValueId (*build)(NetworkBuilder&, ValueId images) = nullptr;
};

/// All models, in the order of zoo.inc.
std::span<const Model> all_models();
/// The model of that name for that dataset, or nullptr.
const Model* find_model(std::string_view name, std::string_view dataset = "imagenet");
/// The spelling in zoo.inc of a model's name in any case; empty: no model has that name.
std::string_view listed_model_name(std::string_view name);

struct NetworkOptions {
  std::int64_t batch = 1;
  /// Which of the joined batch of all towers is the first image: dropout and drop-path choose as
  /// for one device that has them all.
  std::int64_t first_image = 0;
  std::int64_t num_classes = 1001;
  /// Height and width of the images; 0: the model's own.
  std::int64_t image_size = 0;
  /// Of images and variables: f32 or f64.
  DType dtype = DType::f32;
  /// Training: batch statistics, dropout and the loss; otherwise the logits alone.
  bool training = true;
  /// Outputs top_1 and top_5.
  bool accuracies = false;
  /// Adds the auxiliary logits' loss; throws UsageError for a model that has none. Training only.
  bool aux_head = false;
  double label_smoothing = 0;
  /// Coefficient of the L2 sum, output l2_loss (training only).
  double weight_decay = 4e-5;
  std::uint64_t seed = 1234;
};

/// The whole forward network: inputs images[N,3,S,S] and labels s32[N] (and step, where dropout
/// needs it); outputs logits, and as asked loss, l2_loss, top_1, top_5.
Graph build_network(const Model& model, const NetworkOptions& options);

}  // namespace bench
