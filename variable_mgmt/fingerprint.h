#pragma once

#include <vector>

#include "models/zoo/fingerprint.h"
#include "variable_mgmt/fingerprint_values.h"
#include "variable_mgmt/tower.h"

namespace bench {

/// What is put into a tower to measure its fingerprint, made from the plain network it runs: values
/// for every variable of the tower's graph, and what to look at.
struct FingerprintStimulus {
  InitialValues values;
  std::vector<FingerprintProbe> probes;
  /// What the loss is multiplied with before the backward pass; the gradients are divided by it.
  double loss_scale = 1;
};

/// Images in canonical order, and their labels.
struct FingerprintBatch {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
};
/// A batch for a tower whose image i is number (first + i) % `images` of the fingerprint's two.
FingerprintBatch fingerprint_batch(const Tower& tower, std::size_t first, std::size_t images = 2);

/// Why a training step of that many images has no fingerprint; empty when it has one.
std::string fingerprint_refusal(std::int64_t batch);

/// Runs a tower whose graph has gradients on the two images, image i of the batch being image i %
/// 2, without dropout and drop-path, the moving averages starting from 0: loss, logits, and for
/// each kind that is about variables a part per 16 of them. A variable whose gradient is far
/// smaller than that of its neighbours, as where only rounding is left of it, hardly counts.
/// `observer`, if any, sees the run. Overwrites the variables and binds the inputs anew. Waits.
/// Throws InternalError for a batch that fingerprint_refusal() names.
std::vector<FingerprintPart> measure_training_fingerprint(
    Tower& tower, const FingerprintStimulus& stimulus,
    const Executor::Observer* observer = nullptr);

/// The logits of a tower for inference, of any batch: an odd one runs twice, the second time with
/// the two images exchanged. The rest as above; the observer sees the first run.
std::vector<FingerprintPart> measure_inference_fingerprint(
    Tower& tower, const FingerprintStimulus& stimulus,
    const Executor::Observer* observer = nullptr);

}  // namespace bench
