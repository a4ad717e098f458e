#pragma once

#include <string>
#include <vector>

#include "models/zoo/fingerprint.h"
#include "variable_mgmt/variables.h"

namespace bench {

/// A variable to measure, and its kind. Trained variables are measured by their gradients, moving
/// averages by what they accumulate.
struct FingerprintProbe {
  std::string variable;
  FingerprintKind kind = FingerprintKind::weight_gradients;
};

/// The variables to measure in a plain network (without gradients, as build_network makes it), in
/// its order. Biases that batch norm cancels are omitted.
std::vector<FingerprintProbe> fingerprint_probes(const Graph& network);

/// Returns the variables' values for measuring a fingerprint, the same for training and inference.
/// Two labelled images of normal numbers complete the stimulus. The variables of the plain network
/// are drawn by initial_values from a fixed seed. Constant ones (biases, batch norm's) then move by
/// a tenth of a normal number, so that each matters. Batch norm's beta moves by 3 more, so that few
/// values are near the bend of a ReLU. If the output of a batch norm is added to another value, it
/// becomes a fifth as large instead. With batch norm, the weights of fully connected layers become
/// smaller.
InitialValues fingerprint_values(const Graph& network);

/// The seed of everything that a fingerprint draws.
std::uint64_t fingerprint_seed();

}  // namespace bench
