#pragma once

#include <iosfwd>
#include <optional>
#include <vector>

#include "bench/plan/settings.h"
#include "results/record.h"
#include "variable_mgmt/agreement.h"
#include "variable_mgmt/calibration.h"

namespace bench {

/// The network of a run with --dtype=int8 for a batch, with these ranges. Throws UsageError with
/// the reason where the device runs none of its layers so.
QuantizedGraph build_quantized_graph(const RunSettings& settings, const Backend& backend,
                                     std::int64_t batch, const Ranges& ranges);

/// How close the network in int8 comes to itself in f32, and on what that was measured.
struct Judgement {
  Agreement agreement = {};
  /// Calibration may have seen some of the images, since the input has too few others.
  bool seen = false;
  /// The weights came from a file; those that were drawn tell nothing of a trained network.
  bool trained = false;
  /// Images whose label has the largest logit; of real labels only.
  struct Correct {
    std::int64_t f32 = 0;
    std::int64_t int8 = 0;
  };
  std::optional<Correct> correct = {};
};

/// Makes a run's network int8: learns the ranges of its values from the first batches of the run's
/// own input, in f32 on the same device, and keeps what f32 makes of the batches behind them. Of
/// synthetic images, which are the same in each batch, these are drawn from another seed.
class Quantization {
 public:
  /// `values` are those of the folded network, and then those of graph(). Says on `progress` what
  /// it does; `watch` hears of each part of a batch.
  Quantization(const RunSettings& settings, Backend& backend, InitialValues& values,
               std::ostream& progress, const Watch& watch);

  [[nodiscard]] const Graph& graph() const { return graph_; }
  /// Runs a tower of graph() on the kept batches and holds its logits against those of f32.
  [[nodiscard]] Judgement judge(Tower& tower) const;

 private:
  /// A batch that calibration has not learned from, and f32's logits of it.
  struct Kept {
    std::vector<float> images;
    std::vector<std::int32_t> labels;
    std::vector<float> logits;
  };

  std::int64_t classes_ = 0;
  Graph graph_;
  std::vector<Kept> kept_;
  bool seen_ = false;
  bool trained_ = false;
  bool labelled_ = false;
};

results::Quantization to_record(const Judgement& judgement);

/// "int8 against f32 on 32 images that calibration has not seen: signal to noise 21.3 dB in what
/// differs between the images, 38.4 dB in the logits as a whole; top-1 agreement 31 of 32, where
/// f32 names 7 classes; correct: f32 30, int8 29". Where the weights are untrained, a second line
/// says what that cannot tell.
std::ostream& operator<<(std::ostream& out, const Judgement& judgement);

}  // namespace bench
