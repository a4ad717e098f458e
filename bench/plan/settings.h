#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/flags/flags.h"
#include "bench/plan/schedule.h"
#include "kernels/backend.h"
#include "models/zoo/zoo.h"
#include "pipeline/datasets/dataset.h"
#include "variable_mgmt/learning_rate.h"

namespace bench {

/// What a run is, worked out from its flags before anything is made: every default filled in.
struct RunSettings {
  Flags flags = {};
  const Model* model = nullptr;
  const Dataset* dataset = nullptr;
  /// "cpu" or "reference", and the flag's own spelling for the header's device names.
  std::string device = {};
  std::string device_label = {};
  DataFormat format = DataFormat::automatic;
  DType dtype = DType::f32;
  /// Images per step and device. Where --batch_size gives none (a list, auto, max), the model's own
  /// until one is chosen.
  std::int64_t batch = 0;
  /// Height and width of the network's input, in pixels.
  std::int64_t image_size = 0;
  std::int64_t num_classes = 0;
  Warmup warmup = {};
  StepCount steps = {};
  OptimizerSettings optimizer = {};
  LearningRateOptions learning_rate = {};
  /// Sentences for the user about what differs from what was asked.
  std::vector<std::string> notices = {};

  /// Whether batch norm is folded into the convolutions.
  [[nodiscard]] bool frozen() const {
    return flags.forward_only && (flags.freeze_when_forward_only || quantized());
  }
  /// Whether layers run in int8; `dtype` is then that of the others.
  [[nodiscard]] bool quantized() const { return flags.dtype == "int8"; }
  [[nodiscard]] bool training() const { return !flags.forward_only; }
  [[nodiscard]] bool accuracies() const {
    return flags.forward_only || flags.print_training_accuracy;
  }
  [[nodiscard]] bool synthetic() const { return !flags.data_dir && !flags.input_file; }
};

/// Throws UsageError for a model, dataset or value that does not exist or does not fit.
RunSettings resolve_settings(const ParseResult& parsed);

/// The classes of a model where nobody asks for another number: its own, or else the dataset's.
std::int64_t own_classes(const Model& model, const Dataset& dataset);

/// The number of a step as dropout and drop-path see it: -1, which turns them off, with
/// --deterministic_layers.
std::int32_t layer_step(const RunSettings& settings, std::int64_t global_step);

/// How a run scales its loss: not at all but in 16 bits.
LossScaleRule loss_scale_rule(const RunSettings& settings);

}  // namespace bench
