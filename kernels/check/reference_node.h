#pragma once

#include <span>
#include <vector>

#include "kernels/check/arena.h"
#include "kernels/check/canonical_reader.h"

namespace bench {

/// A node of a graph together with what it read.
struct NodeInputs {
  Node node;
  /// In the node's order; those of opaque inputs are left empty.
  std::vector<HostTensor> inputs;
};

/// A tensor's elements in f64: where they are, or put into the arena.
std::span<double> widened(const HostTensor& tensor, const HostThreads& threads, Arena& arena);

/// One node computed by the reference in f64, fused ones in parts, on several threads.
class ReferenceNode {
 public:
  /// `node` belongs to `graph`, whose shapes are those of the inputs. `producers` are the nodes
  /// that make its opaque inputs, with what they read: they run before it. The memory of all of
  /// these, and `threads`, must outlive this; `arena` is where it puts what it computes.
  ReferenceNode(const Graph& graph, const NodeInputs& node,
                const std::vector<const NodeInputs*>& producers, const HostThreads& threads,
                Arena& arena);

  /// The node's outputs, in its order, until the arena is reset; those that are opaque or not
  /// floating are left empty.
  [[nodiscard]] std::vector<std::span<const double>> compute();
  /// The same with every floating input first moved by so small a share, up or down at random: what
  /// that changes shows how far rounding of what is added up carries. `shares` has one for each
  /// input of the node, and the first is its producers', too. Once.
  [[nodiscard]] std::vector<std::span<const double>> compute_moved(std::span<const double> shares);

 private:
  const HostThreads& threads_;
  Arena& arena_;
  Graph parts_;
  /// By the inputs of the graph, in f64.
  std::vector<std::span<double>> inputs_;
  /// Which of the node's inputs each is.
  std::vector<std::size_t> positions_;
  /// By the node's outputs; empty for one that is left out.
  std::vector<std::string> outputs_;
};

}  // namespace bench
