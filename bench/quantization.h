#pragma once

#include <iosfwd>
#include <vector>

#include "bench/settings.h"
#include "variable_mgmt/calibration.h"

namespace bench {

/// The network of a run with --dtype=int8 for a batch, with these ranges. Throws UsageError with
/// the reason where the device runs none of its layers so.
QuantizedGraph build_quantized_graph(const RunSettings& settings, const Backend& backend,
                                     std::int64_t batch, const Ranges& ranges);

/// Makes a run's network int8: learns the ranges of its values from the first batches of the run's
/// own input, in f32 on the same device, and keeps what the first of them gave.
class Quantization {
 public:
  /// `values` are those of the folded network, and then those of graph(). Says on `progress` what
  /// it does; `watch` hears of each part of a batch.
  Quantization(const RunSettings& settings, Backend& backend, InitialValues& values,
               std::ostream& progress, const Watch& watch);

  [[nodiscard]] const Graph& graph() const { return graph_; }
  /// Runs a tower of graph() on the kept batch and holds its logits against those of f32.
  [[nodiscard]] Agreement compare(Tower& tower) const;

 private:
  std::int64_t classes_ = 0;
  Graph graph_;
  std::vector<float> images_;
  std::vector<std::int32_t> labels_;
  std::vector<float> logits_;
};

/// "int8 against f32 on the same batch: signal to noise of the logits 31.2 dB, top-1 agreement 32
/// of 32".
std::ostream& operator<<(std::ostream& out, const Agreement& agreement);

}  // namespace bench
