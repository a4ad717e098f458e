#pragma once

#include <iosfwd>
#include <optional>
#include <vector>

#include "bench/plan/settings.h"
#include "bench/quantize/agreement.h"
#include "bench/quantize/calibration.h"
#include "results/record/record.h"

namespace bench {

/// The agreement of the int8 network with its f32 version, and the data of that comparison.
struct Judgement {
  Agreement agreement = {};
  /// The input has too few images, so calibration may have seen some of these.
  bool seen = false;
  /// The weights came from a file. Random weights say nothing about a trained network.
  bool trained = false;
  /// Images whose label has the largest logit; only with real labels.
  struct Correct {
    std::int64_t f32 = 0;
    std::int64_t int8 = 0;
  };
  std::optional<Correct> correct = {};
};

/// Converts a run's network to int8. It learns the value ranges in f32 on the same device, from the
/// first batches of the run's input. It keeps the f32 logits of the batches that follow. Synthetic
/// batches are all alike, so it draws the following ones from another seed.
class Quantization {
 public:
  /// On entry, `values` belong to the folded network; on return, to graph(). Writes its progress to
  /// `progress`; `watch` is called for each part of a batch.
  Quantization(const RunSettings& settings, Backend& backend, InitialValues& values,
               std::ostream& progress, const Watch& watch);

  [[nodiscard]] const Graph& graph() const { return graph_; }
  /// Runs a tower of graph() on the kept batches and compares its logits with those of f32.
  [[nodiscard]] Judgement judge(Tower& tower) const;

 private:
  /// A batch that calibration has not seen, with its f32 logits.
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

/// "int8 against f32 on 32 images that calibration has not seen: signal-to-noise ratio 21.3 dB for
/// the differences between images, ...; f32 predicts 7 classes; correct: f32 30, int8 29". If the
/// weights are untrained, a second line states the limits of the result.
std::ostream& operator<<(std::ostream& out, const Judgement& judgement);

}  // namespace bench
