#pragma once

#include <functional>
#include <map>
#include <string>
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

/// How long a candidate of a node takes, in seconds. Asked only where several differ in nothing but
/// their implementation, before any memory is laid out; it may run what it times.
using Tuner = std::function<double(const Graph&, const Node&, const Candidate&)>;

/// What lowering goes by besides the graph and the backend.
struct LoweringOptions {
  DataFormat format = DataFormat::automatic;
  /// May be null: then candidates are chosen by their estimates.
  const Choices* pinned = nullptr;
  /// May be empty.
  Tuner tuner = {};
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
/// the backend supports a node in no way, ChoicesError when it cannot be run as it is pinned.
ChosenGraph choose(const Graph& graph, Backend& backend, const LoweringOptions& options);

/// Whether a node casts a variable: it has no kernel of its own, the very reorders that bring the
/// variable into its readers' layouts cast it.
bool casts_variable(const Graph& graph, const Node& node);

}  // namespace bench
