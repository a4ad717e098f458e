#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "bench/plan/settings.h"

namespace bench {

/// A device as --device names it, and what it can run.
struct ListedDevice {
  std::string name;
  SupportQuery supports;
};

/// Why the device cannot train the model, as it says it itself; empty when it can. Looks at
/// every node of the graph that would run, at a small batch.
std::string why_not(const Model& model, const SupportQuery& supports);

/// A header and one line per model and dataset, in the order of all_models(): name, dataset, image
/// size, default batch, trained scalars, GFLOP (2 x multiply-adds / 1e9) of one image's forward
/// pass, and the devices that can train it; then the others, each with what it lacks.
void list_models(std::ostream& out, std::span<const ListedDevice> devices);

/// The same with every device that is built.
void list_models(std::ostream& out);

/// A header and one line per variable of the run's network, in the order in which they are made:
/// name, canonical shape, whether it is trained, whether it is in the L2 sum; then a line with
/// their numbers.
void list_variables(std::ostream& out, const RunSettings& settings);

}  // namespace bench
