#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/backend.h"
#include "models/base/errors.h"

namespace bench {

/// The candidate that a node uses.
struct NodeChoice {
  std::string implementation;
  std::vector<Layout> inputs;
  std::vector<Layout> outputs;
  bool operator==(const NodeChoice&) const = default;
};

/// All decisions of lowering a graph, keyed by the names of its nodes and values. Given back, they
/// lower that graph in the same way again, whatever is estimated or timed then.
struct Choices {
  std::map<std::string, NodeChoice> nodes;
  /// The layouts of inputs and variables.
  std::map<std::string, Layout> held;
  bool operator==(const Choices&) const = default;
};

/// Pinned choices are from another graph or device, or contradict each other.
class ChoicesError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Chooses candidates by time, before memory is laid out. If the times of candidates that differ
/// only in their implementation are equal within the measurement's precision, the estimates decide.
struct Tuner {
  /// The time of a node's candidate; nullopt if it cannot run. If the function is empty, nothing is
  /// timed. It is not called for nodes that read opaque values, whose memory only their producers
  /// know.
  std::function<std::optional<double>(const Graph&, const Node&, const Candidate&)> seconds = {};
  /// The time of a reorder; nullopt if it cannot run. Without it, layouts are chosen by estimates.
  /// With it, the candidates of all layouts are timed, but for those that are far slower by
  /// estimate. The layouts with the least total time that the search finds are chosen.
  std::function<std::optional<double>(const TensorType&, const Layout& from, const Layout& to)>
      reorder_seconds = {};
  /// The maximum number of timed candidates, or one of each way if there are more ways. It takes
  /// the best of each way by estimate, then the best of all.
  std::size_t most = std::numeric_limits<std::size_t>::max();
};

/// Inputs of lowering besides the graph and the backend.
struct LoweringOptions {
  DataFormat format = DataFormat::automatic;
  /// May be null: then candidates are chosen by their estimates.
  const Choices* pinned = nullptr;
  Tuner tuner = {};
  /// Skips candidates that do not give the same bits each time.
  bool deterministic = false;
  /// The name of the graph input that is fed as pixels, which affects memory; may be empty.
  std::string_view pixels = {};
};

/// A graph with all choices made.
struct ChosenGraph {
  /// One per node.
  std::vector<Candidate> candidates;
  /// The layout in which each value is produced (or held, if it has no producer).
  std::vector<Layout> layouts;
  /// Estimated time of all kernels and reorders.
  double seconds = 0;
  Choices choices;
};

/// Chooses a candidate for every node by the estimated cost of nodes and reorders. Throws
/// UsageError if the backend does not support a node, or supports it only with varying bits
/// although `deterministic` is set. Throws ChoicesError if it cannot run as pinned.
ChosenGraph choose(const Graph& graph, Backend& backend, const LoweringOptions& options);

/// Returns true if a node casts a variable. Such a node has no separate kernel: the reorders that
/// bring the variable into its readers' layouts cast it. Estimates count each such reorder, also if
/// the optimizer writes the copy instead (Backend::order_of_copy).
bool casts_variable(const Graph& graph, const Node& node);

}  // namespace bench
