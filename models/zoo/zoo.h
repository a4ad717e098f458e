#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/example_input.h"
#include "models/ir/graph.h"
#include "models/zoo/model_rate.h"

namespace bench {

class NetworkBuilder;

/// The unit of a model's speed: images, tokens or examples.
struct SpeedUnit {
  std::string_view name = "images";
  std::int64_t per_example = 1;
};

/// What an evaluation computes.
enum class ModelMetric : std::uint8_t {
  none,      ///< The model cannot be evaluated.
  accuracy,  ///< The shares of images whose label has one of the largest logits.
  /// COCO's metric. The logits are those of find_objects(), and the evaluation reads
  /// labelled_object_inputs() instead of the inputs of the loss.
  average_precision,
  /// The exponential of the mean cross-entropy of all rows.
  perplexity,
  /// The shares of wrong characters and words. The last class is CTC's blank, the first one a
  /// space, and the last inputs are labels, their counts and the counts of frames.
  error_rates,
};

/// A model that reads numbers instead of images and labels, or besides images.
struct NumberModel {
  /// What an example is called, in the singular.
  std::string_view example;
  SpeedUnit unit;
  /// Without the images.
  std::vector<ExampleInput> (*inputs)(std::int64_t num_classes) = nullptr;
  /// The last inputs are for the loss alone, and only training reads them.
  std::size_t loss_inputs = 1;
  /// From the other inputs, the images first, to a matrix of logits with the rows of an example
  /// together.
  ValueId (*build)(NetworkBuilder&, std::span<const ValueId> inputs) = nullptr;
  /// From the logits and the inputs of the loss to a scalar. Null: the only such input has a label
  /// per row of the logits, and the loss is the cross-entropy.
  ValueId (*loss)(NetworkBuilder&, ValueId logits, std::span<const ValueId> inputs) = nullptr;
  ModelMetric metric = ModelMetric::none;
};

/// One row of zoo.inc. Everything else, counts included, is derived from the graph.
struct Model {
  std::string_view name;
  /// The name in the header of a run.
  std::string_view printed_name;
  std::string_view dataset;
  /// The default height and width of the images; 0: it reads none.
  std::int64_t image_size = 0;
  /// Null: it classifies images.
  const NumberModel* numbers = nullptr;
  std::int64_t default_batch = 0;
  /// Number of classes, if the model's definition fixes it; 0 means the dataset's. Models of images
  /// can have another number, too.
  std::int64_t num_classes = 0;
  ModelRate rate = ModelRate::constant;
  /// From images[N,C,S,S] to logits[N,classes]; null if it is a NumberModel.
  ValueId (*build)(NetworkBuilder&, ValueId images) = nullptr;

  [[nodiscard]] bool reads_images() const { return image_size > 0; }
  /// True if it reads only images and a label for each.
  [[nodiscard]] bool classifies_images() const { return numbers == nullptr; }
  /// True if a row of the logits has one label, so that label smoothing and accuracies apply.
  [[nodiscard]] bool classifies() const { return numbers == nullptr || numbers->loss == nullptr; }
  [[nodiscard]] ModelMetric metric() const {
    return numbers == nullptr ? ModelMetric::accuracy : numbers->metric;
  }
  /// What an example is called, in the singular.
  [[nodiscard]] std::string_view example() const {
    return numbers == nullptr ? "image" : numbers->example;
  }
  [[nodiscard]] SpeedUnit unit() const { return numbers == nullptr ? SpeedUnit{} : numbers->unit; }
};

/// All models, in the order of zoo.inc.
std::span<const Model> all_models();
/// The model with that name for that dataset, or nullptr.
const Model* find_model(std::string_view name, std::string_view dataset = "imagenet");
/// The spelling in zoo.inc of a model name given in any case; empty if unknown.
std::string_view listed_model_name(std::string_view name);

struct NetworkOptions {
  std::int64_t batch = 1;
  /// Index of the first image in the joined batch of all towers. Dropout and drop-path then draw as
  /// if one device had the whole batch.
  std::int64_t first_image = 0;
  std::int64_t num_classes = 1001;
  /// Height and width of the images; 0 means the model's default.
  std::int64_t image_size = 0;
  /// Type of images and variables: f32 or f64.
  DType dtype = DType::f32;
  /// Training: batch statistics, dropout and the loss; otherwise only the logits.
  bool training = true;
  /// Outputs top_1 and top_5.
  bool accuracies = false;
  /// Adds the auxiliary logits' loss; throws UsageError for a model without them. Training only.
  bool aux_head = false;
  double label_smoothing = 0;
  /// Coefficient of the L2 sum, output l2_loss (training only; none if 0), which covers weights
  /// and, if `biases_decay`, biases.
  double weight_decay = 4e-5;
  bool biases_decay = true;
  std::uint64_t seed = 1234;
};

/// What the model reads: images f32[3,S,S] and a label, or its NumberModel's inputs, the images
/// first if it reads any.
std::vector<ExampleInput> example_inputs(const Model& model, const NetworkOptions& options);

/// The whole forward network. Inputs: those of `options.batch` examples, and step if dropout needs
/// it; the labels of a model that classifies have one axis. Outputs: logits and, if requested,
/// loss, l2_loss, top_1 and top_5.
Graph build_network(const Model& model, const NetworkOptions& options);
/// The examples that such a network computes at once: the first extent of its first input.
std::int64_t examples_of(const Graph& network);

}  // namespace bench
