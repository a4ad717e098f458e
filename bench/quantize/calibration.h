#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "bench/quantize/magnitudes.h"
#include "models/passes/quantize.h"
#include "variable_mgmt/towers/tower.h"

namespace bench {

/// Observes a network in f32. It learns the ranges of the values to be quantised, and returns
/// logits to compare with those of the quantised network.
class Calibration {
 public:
  /// `graph`: for inference, folded and fused; its batch size is that of each observe().
  Calibration(const Graph& graph, Backend& backend, DataFormat format, const InitialValues& values);

  /// Runs the network on a batch in canonical order and widens the ranges accordingly. Waits.
  void observe(std::span<const float> images, std::span<const std::int32_t> labels);

  /// Runs the network on a batch in canonical order and returns the logits; learns nothing. Waits.
  std::vector<float> logits(std::span<const float> images, std::span<const std::int32_t> labels);

  /// Returns the range of every value that quantize() may ask for, over all observed batches. The
  /// images' range covers all their numbers. Other ranges are cut where quantising loses least
  /// (Magnitudes), since a few outliers would make all quanta large.
  [[nodiscard]] Ranges ranges() const;

 private:
  /// The watched values, each with its number of quanta between 0 and its largest magnitude.
  std::map<std::string, double> watched_;
  Tower tower_;
  HostThreads threads_;
  Range images_;
  std::map<std::string, Magnitudes> seen_;
  /// What each thread has seen of the current value.
  std::vector<Magnitudes> parts_;
};

}  // namespace bench
