#pragma once

#include <span>
#include <vector>

#include "bench/verify/arena.h"
#include "bench/verify/canonical_reader.h"
#include "bench/verify/verdict.h"

namespace bench {

/// A node of a graph together with the inputs that it read.
struct NodeInputs {
  Node node;
  /// In the node's order; opaque inputs are empty.
  std::vector<HostTensor> inputs;
};

/// A tensor's elements in f64: in place, or converted into the arena.
std::span<double> widened(const HostTensor& tensor, const HostThreads& threads, Arena& arena);

/// One node computed by the reference in f64, fused ones in parts, on several threads.
class ReferenceNode {
 public:
  /// `node` belongs to `graph`, whose shapes are those of the inputs. `producers` are the nodes
  /// that produce its opaque inputs, with their inputs; they run first. All of these and `threads`
  /// must outlive this object. Results are allocated from `arena`.
  ReferenceNode(const Graph& graph, const NodeInputs& node,
                const std::vector<const NodeInputs*>& producers, const HostThreads& threads,
                Arena& arena);

  /// The node's outputs, in its order, valid until the arena is reset. Opaque and non-floating
  /// outputs are empty.
  [[nodiscard]] std::vector<std::span<const double>> compute();
  /// The same, after moving every floating input randomly up or down by a small share. The change
  /// shows how far rounding of summed values propagates. `moves` has one entry per input; the
  /// first also applies to its producers. Call it only once.
  [[nodiscard]] std::vector<std::span<const double>> compute_moved(std::span<const Move> moves);

 private:
  const HostThreads& threads_;
  Arena& arena_;
  Graph parts_;
  /// Indexed by the inputs of the graph, in f64.
  std::vector<std::span<double>> inputs_;
  /// The position among the node's inputs.
  std::vector<std::size_t> positions_;
  /// Indexed by the node's outputs; empty for a skipped output.
  std::vector<std::string> outputs_;
};

}  // namespace bench
