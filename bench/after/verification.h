#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/plan/settings.h"
#include "models/base/watch.h"
#include "models/zoo/fingerprint.h"
#include "results/record.h"
#include "variable_mgmt/fingerprint.h"
#include "variable_mgmt/towers.h"

namespace bench {

/// What towers compute, held against what their model should.
struct Verification {
  std::vector<results::VerifiedNumber> numbers = {};
  /// Why the stored fingerprint could not be compared; empty when it was. Some numbers need none.
  std::string skipped = {};

  [[nodiscard]] bool passed() const;
  /// "loss is 6.93 instead of 6.91 (deviation 0.003, allowed 0.0001); ...": those that did not
  /// pass.
  [[nodiscard]] std::string failures() const;
  /// The number with the largest share; null without numbers.
  [[nodiscard]] const results::VerifiedNumber* nearest() const;
};

/// Why a run computes something else than the stored fingerprint; empty when it does not.
std::string difference_to_stored(const RunSettings& settings);

/// What the fingerprint of a run is measured with.
FingerprintStimulus fingerprint_stimulus(const RunSettings& settings);

/// What is verified: towers made by the settings, and what updates them.
struct VerifiedRun {
  Towers& towers;
  /// The graph that the first tower was made from, for a batch of so many images.
  std::function<Graph(std::int64_t images)> graph;
  /// Hears of each kernel and may end the check.
  Watch watch = {};
};

/// Holds against what is stored, or computed anew: the definition of the model's network; where the
/// settings do not change it (size, classes, loss; `skipped` says so) the fingerprint of a training
/// step, or of the logits of a forward-only run, on every tower; each kind of kernel, and after a
/// training step its L2 term, on the first one; and the strategy's updates on all of them. Changes
/// the towers' variables and the strategy's slots. Waits.
Verification verify_run(const RunSettings& settings, const VerifiedRun& run);

}  // namespace bench
