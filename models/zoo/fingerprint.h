#pragma once

#include "models/zoo/zoo.h"

namespace bench {

/// Four numbers that tell whether a network computes what its name promises, from seeded values of
/// all its variables and one seeded image (variable_mgmt/fingerprint.h). A batch of copies of that
/// image gives the same four, whatever its size.
struct Fingerprint {
  /// Training: the cross-entropy.
  double loss = 0;
  /// Training: the Euclidean norm of all variables' gradients together, and that of the first
  /// variable's, which the backward pass reaches last.
  double gradient_norm = 0;
  double first_gradient_norm = 0;
  /// Inference: the norm of one image's logits.
  double logits_norm = 0;
};

/// The model's stored fingerprint, computed by the reference backend in f64 with the model's own
/// image size and number of classes; nullptr when there is none.
const Fingerprint* stored_fingerprint(const Model& model);

}  // namespace bench
