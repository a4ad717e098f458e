#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "bench/flags.h"
#include "bench/phase_watch.h"
#include "bench/settings.h"
#include "models/zoo/fingerprint.h"
#include "variable_mgmt/tower.h"

namespace bench {

/// One number of a fingerprint beside the stored one.
struct CheckedNumber {
  std::string_view name;
  double measured = 0;
  double stored = 0;
  /// |measured - stored| / |stored|; without the division where 0 is stored.
  double deviation = 0;
  /// The largest deviation that passes.
  double tolerance = 0;

  [[nodiscard]] bool passed() const { return deviation <= tolerance; }
};

/// A network's fingerprint held against the stored one.
struct Verification {
  std::vector<CheckedNumber> numbers = {};
  /// Why nothing could be checked; empty when something was.
  std::string skipped = {};

  [[nodiscard]] bool passed() const;
  /// "loss is 6.93 instead of 6.91 (relative deviation 0.003, allowed 0.0001); ...": those that did
  /// not pass.
  [[nodiscard]] std::string failures() const;
};

/// Measures the fingerprint of a tower made by these settings, which overwrites its variables, and
/// compares it: loss and gradients of a training run, the logits of a forward-only one. Skipped
/// where the settings change what the network computes (size, classes, loss), with the reason.
Verification verify_tower(const RunSettings& settings, Tower& tower);

/// What --verify does: measures the model's fingerprint, or every model's, in training and (without
/// --forward_only, also) inference, prints one line for each. Returns the exit status: 1 when a
/// number deviates too much or a model could not be checked. `phases`, unless null, hears of the
/// planning and may end the check there and between a model's parts. Throws UsageError where the
/// flags ask for another network than the model's own, RunEnded.
int run_verification(const ParseResult& parsed, std::ostream& out, PhaseWatch* phases = nullptr);

}  // namespace bench
