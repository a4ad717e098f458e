#pragma once

#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "kernels/runtime/choices.h"
#include "models/ir/op.h"

namespace bench {

/// Memory of one value in one layout.
struct Buffer {
  /// A copy is a trained variable's in 16 bits, which the optimizer renews.
  enum class Region : std::uint8_t { input, variable, gradient, copy, activation };
  std::string name;
  ValueId value;
  TensorType type;
  Layout layout;
  std::size_t bytes = 0;
  Region region = Region::activation;
};

/// A node by its chosen candidate, or a reorder.
struct Step {
  std::string name;
  std::string implementation;
  std::string op;
  /// The node's; none of a reorder.
  Attributes attributes = {};
  std::vector<std::size_t> inputs;
  std::vector<std::size_t> outputs;
  std::vector<Candidate::Overwrite> may_overwrite;
  std::size_t workspace_bytes = 0;
  /// As the candidate's; of a Plan 0 where nothing is launched, since all lies in place already.
  int launches = 1;
  bool idle_in_place = false;
  double seconds = 0;
  /// What it has to do: multiply-adds of a node, and the bytes of what it reads and writes, between
  /// its own kernels too.
  Work work = {};
  std::function<std::unique_ptr<Kernel>()> make;
};

/// A graph for one backend: candidates chosen, reorders inserted, one buffer per value and layout.
struct LoweredGraph {
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  /// The buffer in which each value is produced (or held), by ValueId.
  std::vector<std::size_t> buffer_of;
  /// Per trainable variable with a gradient, in the order in which the gradients become final: the
  /// variable's buffer and its gradient's, of one layout.
  struct Trained {
    std::size_t variable = 0;
    std::size_t gradient = 0;
    bool decayed = true;
    /// The last step that reads or writes the gradient.
    std::size_t final_step = 0;
    /// Of the variable in 16 bits.
    struct Copy {
      std::size_t buffer = 0;
      TileOrder order = {};
    };
    std::vector<Copy> copies = {};
  };
  std::vector<Trained> trained;
  /// No part of a run: each makes a copy anew from its variable, once the host wrote that.
  std::vector<Step> refreshes;
  /// Estimated time of all kernels and reorders.
  double seconds = 0;
  /// What was chosen, to be pinned another time.
  Choices choices;
};

/// Kernels, copies and fills of a run's steps together: what a library does for a step is one, and
/// what comes before the steps and behind them is not counted.
int launches_of(const LoweredGraph& lowered);

/// Throws UsageError when the backend supports a node in no way, or not in the way that is pinned.
LoweredGraph lower(const Graph& graph, Backend& backend, const LoweringOptions& options);

/// One line per step with implementation, layouts, shapes and how many launches, where not one,
/// reorders with their estimated time, the copies that the optimizer renews, and the reorders'
/// share at the end: what `--dump=plan` shows.
std::ostream& operator<<(std::ostream& out, const LoweredGraph& lowered);

}  // namespace bench
