#pragma once

#include <string>
#include <vector>

#include "models/zoo/fingerprint.h"
#include "variable_mgmt/variables.h"

namespace bench {

/// A variable that a fingerprint looks at, and the kind of part it belongs to: trained ones with
/// their gradients, moving averages with what they take in.
struct FingerprintProbe {
  std::string variable;
  FingerprintKind kind = FingerprintKind::weight_gradients;
};

/// The variables of a plain network (without gradients, as build_network makes it), in its order;
/// without biases that batch norm takes away again.
std::vector<FingerprintProbe> fingerprint_probes(const Graph& network);

/// What a fingerprint is measured with, beside two images of normal numbers with a label each:
/// every variable of the plain network as initial_values draws it from a seed of its own; the
/// constant ones (biases, batch norm's) moved by a tenth of a normal number, so that each matters;
/// batch norm's beta by 3 more, so that few values lie where a ReLU bends; one that is added to
/// what is there already made a fifth as large instead; with batch norm the fully connected layers'
/// weights made smaller. The same for training and for inference.
InitialValues fingerprint_values(const Graph& network);

/// The seed of all that a fingerprint draws.
std::uint64_t fingerprint_seed();

}  // namespace bench
