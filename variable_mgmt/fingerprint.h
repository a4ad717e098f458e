#pragma once

#include "models/zoo/fingerprint.h"
#include "variable_mgmt/tower.h"

namespace bench {

/// What a fingerprint is measured with, beside one image of normal numbers with a label: every
/// variable as initial_value draws it from a seed of its own; the constant ones (biases, batch
/// norm's) moved by a tenth of a normal number, so that each matters, batch norm's beta by 3 more;
/// with batch norm the fully connected layers' weights made smaller. Dropout and drop-path are off.
InitialValues fingerprint_values(const Graph& graph);

/// Measures the training numbers on a tower whose graph has gradients, the batch being copies of
/// the one image. Gives the tower's variables those values and binds its inputs anew. Waits.
Fingerprint measure_training_fingerprint(Tower& tower, const InitialValues& values);

/// Measures logits_norm on a tower for inference. The rest as above.
Fingerprint measure_inference_fingerprint(Tower& tower, const InitialValues& values);

}  // namespace bench
