#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/flags.h"
#include "bench/schedule.h"
#include "kernels/backend.h"
#include "models/passes/fold_batch_norm.h"
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

/// The plain forward network of a run.
Graph build_run_network(const RunSettings& settings, std::int64_t batch);

/// What --freeze_when_forward_only folds into the convolutions of that network; none without it.
std::vector<FoldedBatchNorm> run_folds(const RunSettings& settings);

/// The network folded and fused, without gradients, in the run's floating type.
Graph build_float_graph(const RunSettings& settings, const Backend& backend, std::int64_t batch);

/// A plain network as the backend runs it in floating numbers: folded where asked for and fused,
/// and when training with its gradients.
Graph make_run_graph(const RunSettings& settings, const Backend& backend, Graph network);

/// The network as the backend runs it, in int8 with unknown ranges, which is good for planning:
/// folded and fused, and when training with its gradients.
Graph build_run_graph(const RunSettings& settings, const Backend& backend, std::int64_t batch);

}  // namespace bench
