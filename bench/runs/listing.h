#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "bench/plan/settings.h"

namespace bench {

/// A device with its name in --device, and what it can run.
struct ListedDevice {
  std::string name;
  SupportQuery supports;
};

/// Why the device cannot train the model, in the device's words; empty if it can. Queries every
/// node of the graph that would run, at a small batch.
std::string why_not(const Model& model, const SupportQuery& supports);

/// Prints a header and one line per model and dataset, in the order of all_models(). Columns: name,
/// dataset, image size, default batch, trained scalars, GFLOP (2 x multiply-adds / 1e9) of one
/// image's forward pass, and devices. The devices that can train it come first, then the others
/// with the reason.
void list_models(std::ostream& out, std::span<const ListedDevice> devices);

/// The same with every device that is built.
void list_models(std::ostream& out);

/// Prints a header and one line per variable of the run's network, in the order of creation.
/// Columns: name, canonical shape, trained or not, in the L2 sum or not. A last line has the
/// totals.
void list_variables(std::ostream& out, const Workload& workload);

}  // namespace bench
