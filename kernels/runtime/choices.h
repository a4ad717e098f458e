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

/// Which of its candidates a node runs by.
struct NodeChoice {
  std::string implementation;
  std::vector<Layout> inputs;
  std::vector<Layout> outputs;
  bool operator==(const NodeChoice&) const = default;
};

/// All that is decided about a graph when it is lowered, by the names of its nodes and values.
/// Given back, it lowers that graph in that way again, whatever is estimated or timed then.
struct Choices {
  std::map<std::string, NodeChoice> nodes;
  /// The layouts of inputs and variables.
  std::map<std::string, Layout> held;
  bool operator==(const Choices&) const = default;
};

/// Pinned choices are of another graph or device.
class ChoicesError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Decides by time among candidates that differ in nothing but their implementation, before any
/// memory is laid out. Those whose times are equal but for what measuring leaves open are decided
/// between by their estimates.
struct Tuner {
  /// How long a candidate of a node takes; none where it cannot be run. Empty: nothing is timed.
  /// Not asked about nodes that read opaque values, whose memory their producers alone know.
  std::function<std::optional<double>(const Graph&, const Node&, const Candidate&)> seconds = {};
  /// So many of them are timed, or one of each way where there are more ways: the best of each way
  /// by their estimates, then the best of all.
  std::size_t most = std::numeric_limits<std::size_t>::max();
};

/// What lowering goes by besides the graph and the backend.
struct LoweringOptions {
  DataFormat format = DataFormat::automatic;
  /// May be null: then candidates are chosen by their estimates.
  const Choices* pinned = nullptr;
  Tuner tuner = {};
  /// Candidates that do not give the same bits each time are left out.
  bool deterministic = false;
  /// Of the memory around it: the graph input that is fed as pixels, by name; empty: none.
  std::string_view pixels = {};
};

/// A graph of which all is chosen.
struct ChosenGraph {
  /// One per node.
  std::vector<Candidate> candidates;
  /// In which each value is produced (or held, for one without a producer).
  std::vector<Layout> layouts;
  /// Estimated time of all kernels and reorders.
  double seconds = 0;
  Choices choices;
};

/// Chooses for every node by what it and the reorders are estimated to cost. Throws UsageError when
/// the backend supports a node in no way, or in none that gives the same bits each time where that
/// is wanted, ChoicesError when it cannot be run as it is pinned.
ChosenGraph choose(const Graph& graph, Backend& backend, const LoweringOptions& options);

/// Whether a node casts a variable: it has no kernel of its own, the very reorders that bring the
/// variable into its readers' layouts cast it.
bool casts_variable(const Graph& graph, const Node& node);

}  // namespace bench
