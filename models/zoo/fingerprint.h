#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "models/zoo/zoo.h"

namespace bench {

/// What a part of a fingerprint is about.
enum class FingerprintKind : std::uint8_t {
  loss,
  /// Of a training step.
  logits,
  inference_logits,
  weight_gradients,
  bias_gradients,
  /// Of batch norm's gammas and betas.
  scale_gradients,
  shift_gradients,
  /// Of the batches that batch norm normalised, as the moving averages took them.
  means,
  variances
};
/// "weight gradients".
std::string_view name_of(FingerprintKind kind);

/// One part of a network's fingerprint, which tells whether it computes what its name promises
/// (variable_mgmt/fingerprint.h says how it is measured). A batch that has each of the two images
/// for its half gives the same numbers, whatever its size.
struct FingerprintPart {
  FingerprintKind kind = FingerprintKind::loss;
  /// Of the kinds that are about variables: those numbered from `first` to `last`, counted from 1
  /// per kind, in the order in which the network makes them; else 0.
  int first = 0;
  int last = 0;
  /// How large it is: the loss, the logits' norm per image, the geometric mean of the norms of
  /// those variables.
  double size = 0;
  /// Where it points: its sum with random signs, as a share of the norm; of several variables, the
  /// sum of theirs over the root of their number. About a normal number; 0 for the loss.
  double direction = 0;
};
/// "weight gradients 17-32".
std::string name_of(const FingerprintPart& part);

/// What is stored for a model.
struct StoredFingerprint {
  /// network_definition() of the model when the rest was computed.
  std::uint64_t definition = 0;
  /// Computed by the reference backend in f64, with the model's own image size and number of
  /// classes; none for a model that is not in the table.
  std::span<const FingerprintPart> parts = {};
};
StoredFingerprint stored_fingerprint(const Model& model);

/// The networks that a model builds, in f32 and for a batch of two.
struct DefinedNetworks {
  Graph training;
  Graph inference;
};
DefinedNetworks defined_networks(const Model& model);

/// A hash (48 bits) of both, op by op, with all attributes, shapes and names: networks that differ
/// in anything but how their variables begin differ in it.
std::uint64_t definition_of(const DefinedNetworks& networks);

/// That of defined_networks(): it depends on no run's element type, batch or device.
std::uint64_t network_definition(const Model& model);

}  // namespace bench
