#pragma once

#include "models/zoo/fingerprint.h"
#include "variable_mgmt/tower.h"

namespace bench {

/// What a fingerprint is measured with, beside two images of normal numbers with a label each:
/// every variable as initial_values draws it from a seed of its own; the constant ones (biases,
/// batch norm's) moved by a tenth of a normal number, so that each matters, batch norm's beta by 3
/// more; with batch norm the fully connected layers' weights made smaller. Dropout and drop-path
/// are off.
InitialValues fingerprint_values(const Graph& graph);

/// Why a training step of that many images has no fingerprint; empty when it has one.
std::string fingerprint_refusal(std::int64_t batch);

/// Measures the training numbers on a tower whose graph has gradients, image i of the batch being
/// image i % 2 of the two. Gives the tower's variables those values and binds its inputs anew.
/// Waits. Throws InternalError for a batch that fingerprint_refusal() names.
Fingerprint measure_training_fingerprint(Tower& tower, const InitialValues& values);

/// Measures logits_norm on a tower for inference, of any batch: an odd one runs twice, the second
/// time with the two images exchanged. The rest as above.
Fingerprint measure_inference_fingerprint(Tower& tower, const InitialValues& values);

}  // namespace bench
