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
  /// `copy` is the 16-bit copy of a trained variable, which the optimizer refreshes.
  enum class Region : std::uint8_t { input, variable, gradient, copy, activation };
  std::string name;
  ValueId value;
  TensorType type;
  Layout layout;
  std::size_t bytes = 0;
  Region region = Region::activation;
};

/// A node with its chosen candidate, or a reorder.
struct Step {
  std::string name;
  std::string implementation;
  std::string op;
  /// The node's attributes; empty for a reorder.
  Attributes attributes = {};
  std::vector<std::size_t> inputs;
  std::vector<std::size_t> outputs;
  std::vector<Candidate::Overwrite> may_overwrite;
  std::size_t workspace_bytes = 0;
  /// The candidate's value. In a Plan it is 0 if nothing is launched because all data is in place.
  int launches = 1;
  bool idle_in_place = false;
  double seconds = 0;
  /// Its work: multiply-adds of a node, and the bytes read and written, including those between its
  /// kernels.
  Work work = {};
  std::function<std::unique_ptr<Kernel>()> make;
};

/// A graph for one backend: candidates chosen, reorders inserted, one buffer per value and layout.
struct LoweredGraph {
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  /// The buffer in which each value is produced (or held), by ValueId.
  std::vector<std::size_t> buffer_of;
  /// One per trainable variable with a gradient: the buffers of both, in one layout. Ordered by
  /// when the gradients become final; those of sparse gradients come last.
  struct Trained {
    std::size_t variable = 0;
    std::size_t gradient = 0;
    bool decayed = true;
    /// The last step that reads or writes the gradient.
    std::size_t final_step = 0;
    /// The step that writes the gradient if it is sparse (EmbeddingBackwardAttributes).
    std::optional<std::size_t> sparse_step = {};
    /// A 16-bit copy of the variable.
    struct Copy {
      std::size_t buffer = 0;
      TileOrder order = {};
    };
    std::vector<Copy> copies = {};
  };
  std::vector<Trained> trained;
  /// Not part of a run: each recomputes a copy after the host wrote its variable.
  std::vector<Step> refreshes;
  /// Estimated time of all kernels and reorders.
  double seconds = 0;
  /// The choices, which can be pinned in a later lowering.
  Choices choices;
};

/// Kernels, copies and fills of all steps of a run. A library call counts as one; work before and
/// after the steps is not counted.
int launches_of(const LoweredGraph& lowered);

/// Throws UsageError if the backend does not support a node, or not as pinned.
LoweredGraph lower(const Graph& graph, Backend& backend, const LoweringOptions& options);

/// Prints what `--dump=plan` shows. There is one line per step with implementation, layouts and
/// shapes, and the number of launches if it is not one. Reorders have their estimated time. The
/// copies that the optimizer refreshes and the reorders' share follow.
std::ostream& operator<<(std::ostream& out, const LoweredGraph& lowered);

}  // namespace bench
