#pragma once

#include <vector>

#include "models/ir/graph.h"

namespace bench {

/// A graph that is created from another one piece by piece, and its value for each value of the
/// other. The other graph must outlive it.
class GraphCopy {
 public:
  explicit GraphCopy(const Graph& from) : from_(from), stands_for_(from.values().size()) {}

  /// The graph so far, to which anything may be added.
  [[nodiscard]] Graph& graph() { return graph_; }
  /// The value for a value of the other graph. It may be set, and is invalid until then.
  ValueId& operator[](ValueId id) { return stands_for_[at(id)]; }

  void add_inputs();
  void add_variables();
  void add_variable(const Variable& variable, const TensorType& type);
  /// The node with its inputs named as in the copy.
  [[nodiscard]] Node renamed(const Node& node);
  /// Appends the node unchanged; its inputs must already exist.
  void append_node(const Node& node);
  /// Sets `results` as the node's outputs; if empty, nothing may read those outputs.
  void set_outputs(const Node& node, const std::vector<ValueId>& results);
  /// Names the outputs as the other graph does.
  void add_outputs();
  void add_updates_and_gradients();

 private:
  [[nodiscard]] ValueId needed(ValueId id);

  const Graph& from_;
  Graph graph_;
  std::vector<ValueId> stands_for_;
};

}  // namespace bench
