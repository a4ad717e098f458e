#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/check/canonical_reader.h"

namespace bench {

/// A node of a graph together with what it read.
struct NodeInputs {
  Node node;
  /// In the node's order; those of opaque inputs are left empty.
  std::vector<HostTensor> inputs;
};

/// The reference backend, whose memory is kept and given out again: nodes come one after the other,
/// and the system takes its time over every fresh page.
std::unique_ptr<Backend> make_keeping_reference();

/// One node computed by the reference backend in f64, fused ones in parts.
class ReferenceNode {
 public:
  /// `node` belongs to `graph`, whose shapes are those of the inputs. `producers` are the nodes
  /// that make its opaque inputs, with what they read: they run before it.
  ReferenceNode(Backend& reference, const Graph& graph, const NodeInputs& node,
                const std::vector<const NodeInputs*>& producers);

  /// The node's outputs, in its order; those that are opaque or not floating are left empty. With
  /// `moved`, every floating input is first moved by so small a share, up or down at random: what
  /// that changes shows how far rounding of what is added up carries.
  [[nodiscard]] std::vector<HostTensor> compute(double moved = 0) const;

 private:
  Backend& reference_;
  Graph single_;
  /// By the graph's inputs.
  std::vector<std::pair<std::string, const HostTensor*>> inputs_;
  /// By the node's outputs; empty for one that is left out.
  std::vector<std::string> outputs_;
};

}  // namespace bench
