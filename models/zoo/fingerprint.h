#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "models/zoo/zoo.h"

namespace bench {

/// What a part of a fingerprint describes.
enum class FingerprintKind : std::uint8_t {
  loss,
  /// The logits of a training step.
  logits,
  inference_logits,
  weight_gradients,
  bias_gradients,
  /// Gradients of batch norm's gammas and betas.
  scale_gradients,
  shift_gradients,
  /// The statistics that batch norm computed over batches, as the moving averages took them.
  means,
  variances
};
/// "weight gradients".
std::string_view name_of(FingerprintKind kind);

/// One part of a network's fingerprint, which shows if the network computes what its name promises.
/// bench/verify/fingerprint.h describes the measurement. A batch with each of the two images in
/// one half gives the same numbers, whatever its size.
struct FingerprintPart {
  FingerprintKind kind = FingerprintKind::loss;
  /// For kinds that describe variables: the range `first` to `last`; else 0. Variables are counted
  /// from 1 per kind, in the order in which the network creates them.
  int first = 0;
  int last = 0;
  /// The magnitude: the loss, the logits' norm per image, or the geometric mean of the norms of
  /// those variables.
  double size = 0;
  /// The direction: the sum with random signs, as a share of the norm. For several variables it is
  /// the sum of theirs over the root of their number. It is roughly normally distributed; 0 for the
  /// loss.
  double direction = 0;
};
/// "weight gradients 17-32".
std::string name_of(const FingerprintPart& part);

/// The stored data of a model.
struct StoredFingerprint {
  /// network_definition() of the model when the rest was computed.
  std::uint64_t definition = 0;
  /// Computed by the reference backend in f64, with the model's default image size and number of
  /// classes. Empty for a model that is not in the table.
  std::span<const FingerprintPart> parts = {};
};
StoredFingerprint stored_fingerprint(const Model& model);

/// The networks that a model builds, in f32 and for a batch of two.
struct DefinedNetworks {
  Graph training;
  Graph inference;
};
DefinedNetworks defined_networks(const Model& model);

/// A hash (48 bits) of both networks, op by op, with all attributes, shapes and names. It ignores
/// only how variables are initialised.
std::uint64_t definition_of(const DefinedNetworks& networks);

/// The definition of defined_networks(). It does not depend on a run's element type, batch or
/// device.
std::uint64_t network_definition(const Model& model);

}  // namespace bench
