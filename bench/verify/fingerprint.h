#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/verify/fingerprint_values.h"
#include "models/zoo/fingerprint.h"
#include "variable_mgmt/towers/tower.h"

namespace bench {

/// The inputs for measuring a tower's fingerprint, derived from the plain network that it runs.
/// They are values for every variable of the tower's graph, and the variables to measure.
struct FingerprintStimulus {
  InitialValues values;
  std::vector<FingerprintProbe> probes;
  /// The loss is multiplied by this before the backward pass; the gradients are divided by it.
  double loss_scale = 1;
};

/// Images in canonical order, if the network reads them, and the values of every other input.
struct FingerprintBatch {
  std::vector<float> images;
  std::map<std::string, std::vector<std::int32_t>> numbers;
  std::map<std::string, std::vector<float>> reals;
  /// Writes the numbers, whole and real, to the tower's inputs.
  void write_numbers(Tower& tower) const;
};
/// Returns a batch for a tower. Its example i is number (first + i) % `images` of the fingerprint's
/// two examples.
FingerprintBatch fingerprint_batch(const Tower& tower, std::size_t first, std::size_t images = 2);

/// Why a training step with that batch size has no fingerprint; empty if it has one.
std::string fingerprint_refusal(std::int64_t batch);

/// Measures a tower whose graph has gradients: loss, logits, and one part per 16 variables for each
/// kind of variable. Image i of the batch is image i % 2 of the two. Dropout and drop-path are off,
/// and the moving averages start from 0. A variable hardly counts if its gradient is far smaller
/// than its neighbours', for example mere rounding. `observer`, if any, sees the run. Overwrites
/// the variables and binds the inputs again. Waits. Throws InternalError for a batch that
/// fingerprint_refusal() refuses.
std::vector<FingerprintPart> measure_training_fingerprint(
    Tower& tower, const FingerprintStimulus& stimulus,
    const Executor::Observer* observer = nullptr);

/// Measures the logits of a tower for inference, with any batch size. An odd batch runs twice, the
/// second time with the two images exchanged. The rest is as above; the observer sees the first
/// run.
std::vector<FingerprintPart> measure_inference_fingerprint(
    Tower& tower, const FingerprintStimulus& stimulus,
    const Executor::Observer* observer = nullptr);

}  // namespace bench
