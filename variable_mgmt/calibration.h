#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "models/passes/quantize.h"
#include "variable_mgmt/magnitudes.h"
#include "variable_mgmt/tower.h"

namespace bench {

/// Watches a network in f32 to learn which numbers its values take, so that they can be quantised,
/// and what its logits are, so that those of the quantised network can be held against them.
class Calibration {
 public:
  /// `graph`: for inference, folded and fused; its batch is that of each observe().
  Calibration(const Graph& graph, Backend& backend, DataFormat format, const InitialValues& values);

  /// Runs the network on a batch in canonical order and widens the ranges by what it sees. Waits.
  void observe(std::span<const float> images, std::span<const std::int32_t> labels);

  /// Runs the network on a batch in canonical order, learns nothing from it, and returns the
  /// logits. Waits.
  std::vector<float> logits(std::span<const float> images, std::span<const std::int32_t> labels);

  /// Of every value that quantize() may want one of, over all batches observed. That of the images
  /// is all that they took; the others are cut where their numbers lose least by being quantised
  /// (Magnitudes), since a few that are far out would make the quanta of all others large.
  [[nodiscard]] Ranges ranges() const;

 private:
  /// By value: how many quanta it has between 0 and its largest magnitude.
  std::map<std::string, double> watched_;
  Tower tower_;
  Ranges seen_;
  std::map<std::string, Magnitudes> magnitudes_;
};

}  // namespace bench
