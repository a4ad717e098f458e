#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/check/picks.h"
#include "kernels/check/reference_node.h"
#include "kernels/check/verdict.h"
#include "kernels/executor.h"

namespace bench {

/// Looks at a run of an executor and holds each kernel and each reorder against the reference
/// backend in f64, on the values that it really read: what earlier kernels rounded does not matter,
/// so that 16 bits are checked as sharply as one rounding allows. Kernels that are alike (op,
/// attributes, types, shapes, layouts, implementation) are looked at in the first two places where
/// they stand. Of a batch the first images are compared; all others have to be copies of them. Of
/// large layers some channels are (Picks); the largest reorders and the L2 sum are left out.
class PlanCheck {
 public:
  /// `small` is the executor's graph for a batch of `images`, from which that of `batch` is made of
  /// whole copies. All must outlive the check.
  PlanCheck(Executor& executor, Backend& backend, const Graph& small, std::int64_t images,
            std::int64_t batch);

  /// Which kernels a run shows: those that draw at random (that read the input `step`) treat copies
  /// of an image differently, so that what comes behind them is no matter of whole copies any more.
  enum class Kernels : std::uint8_t { that_draw, others };
  /// What run_observed() takes; the run ends with the last step that is of interest.
  Executor::Observer observer(Kernels kernels);
  /// In the order of the plan. Steps whose results are no floating numbers are left out.
  [[nodiscard]] const std::vector<CheckedKernel>& kernels() const { return kernels_; }

 private:
  void before(const Executor::ObservedStep& step, Kernels kernels);
  void after(const Executor::ObservedStep& step);
  [[nodiscard]] bool draws(const Step& step) const;
  /// Whether a step is one of the first two of its kind.
  bool wanted(const Step& step, Kernels kernels);
  void check_reorder(const Executor::ObservedStep& step);
  void check_node(const Executor::ObservedStep& step, const Node& node);
  /// The node of the small graph that a step runs; null for a reorder.
  [[nodiscard]] const Node* node_of(const Step& step) const;
  /// The inputs or the outputs of a node that are not opaque.
  struct Values {
    const std::vector<std::size_t>& buffers;
    std::span<const TensorView> views;
    /// The small graph's.
    const std::vector<ValueId>& ids;
    const std::vector<Pick>& picks;
  };
  std::vector<HostTensor> read(const Values& values, Arena& arena);
  /// What the small batch's result has to be multiplied with.
  [[nodiscard]] double factor_of(const Node& node, const Shape& small, const Shape& whole) const;
  /// What of a reordered tensor is looked at: of one for each image, the first ones.
  [[nodiscard]] Shape shape_of_reorder(const Step& step) const;
  void add(const Executor::ObservedStep& step, std::span<const CheckedKernel> outputs);

  const LoweredGraph& plan_;
  const Graph& small_;
  HostThreads threads_;
  PlanCheckMemory memory_;
  CanonicalReader reader_;
  /// How many copies of the compared images a batch holds.
  double copies_;
  std::map<std::string, const Node*> nodes_;
  /// How many of each kind came by, and whether the step in hand is looked at.
  std::map<std::string, int> kinds_;
  bool looking_ = false;
  std::vector<HostTensor> inputs_;
  /// Of the step in hand.
  Arena arena_{memory_.node};
  /// Of nodes that made an opaque value, until the end.
  std::map<ValueId, NodeInputs> producers_;
  Arena kept_{memory_.kept};
  std::vector<CheckedKernel> kernels_;
};

}  // namespace bench
