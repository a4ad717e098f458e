#pragma once

#include "models/zoo/zoo.h"

namespace bench {

/// Numbers that tell whether a network computes what its name promises, from seeded values of all
/// its variables and two seeded images (variable_mgmt/fingerprint.h). A batch that has each of the
/// two for its half gives the same numbers, whatever its size.
struct Fingerprint {
  /// Training: the cross-entropy.
  double loss = 0;
  /// Training: the Euclidean norm of all variables' gradients together, and that of the first
  /// variable's, which the backward pass reaches last.
  double gradient_norm = 0;
  double first_gradient_norm = 0;
  /// Training: the geometric mean of the norms of the gradients of each weight (a trained variable
  /// of rank 2 or more). Every layer has the same say in it: of L layers, one whose gradient is
  /// larger by a small share s moves it by s / L.
  double mean_weight_gradient = 0;
  /// Inference: the root of the mean of the two images' squared logits' norms.
  double logits_norm = 0;
};

/// The model's stored fingerprint, computed by the reference backend in f64 with the model's own
/// image size and number of classes; nullptr when there is none.
const Fingerprint* stored_fingerprint(const Model& model);

}  // namespace bench
