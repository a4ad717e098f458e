#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/verify/fingerprint.h"
#include "models/base/watch.h"
#include "models/zoo/fingerprint.h"
#include "results/record/record.h"
#include "variable_mgmt/towers/towers.h"

namespace bench {

/// The values that towers compute, compared with those that their model should give.
struct Verification {
  std::vector<results::VerifiedNumber> numbers = {};
  /// Why the stored fingerprint was not compared; empty if it was. Some numbers do not need it.
  std::string skipped = {};

  [[nodiscard]] bool passed() const;
  /// The failed numbers: "loss is 6.93 instead of 6.91 (deviation 0.003, allowed 0.0001); ...".
  [[nodiscard]] std::string failures() const;
  /// The number with the largest share of its tolerance; null without numbers.
  [[nodiscard]] const results::VerifiedNumber* nearest() const;
};

/// The subject of a verification.
struct VerifiedRun {
  /// Made by the run's settings, with their update.
  Towers& towers;
  const Model& model;
  DType dtype = DType::f32;
  bool training = true;
  /// Images per step of one tower.
  std::int64_t batch = 0;
  double weight_decay = 0;
  StrategySettings strategy = {};
  /// The towers' gradients are reduced.
  bool reduced = false;
  /// False: the result of the update depends on the order of arrival, so it is not checked.
  bool repeatable = true;
  /// The device normalizes images from u8 pixels.
  bool reads_pixels = false;
  FingerprintStimulus stimulus = {};
  /// Why the stored fingerprint cannot be compared; empty if it can.
  std::string skipped = {};
  /// Builds the graph of the first tower for a batch of `images` images.
  std::function<Graph(std::int64_t images)> graph;
  /// Called for each kernel; may end the check.
  Watch watch = {};
  /// The processes of the run, which all verify it; null: this one alone.
  World* world = nullptr;
};

/// Compares a run with stored or newly computed values:
///
/// - the definition of the model's network;
/// - on every tower, the fingerprint of a training step, or of the logits of a forward-only run,
///   unless `skipped` gives a reason;
/// - on the first tower, each kind of kernel, and the L2 term after a training step;
/// - on all towers, the strategy's updates.
///
/// Changes the towers' variables and the strategy's slots. Waits for the devices.
Verification verify_run(const VerifiedRun& run);

}  // namespace bench
