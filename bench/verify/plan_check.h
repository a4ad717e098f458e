#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/verify/picks.h"
#include "bench/verify/reference_node.h"
#include "bench/verify/verdict.h"
#include "kernels/executor.h"

namespace bench {

/// Observes a run of an executor and compares each kernel and reorder with the reference backend in
/// f64. The reference gets the values that the kernel actually read, so that earlier rounding does
/// not matter. The check is therefore as strict for 16 bits as one rounding allows. Identical
/// kernels (op, attributes, types, shapes, layouts, implementation) are checked only at their first
/// two places. The first images of a batch are compared; all others must be copies of them. Large
/// layers are checked in some channels (Picks). The largest reorders and the L2 sum are skipped.
class PlanCheck {
 public:
  /// `small` is the executor's graph for a batch of `images`; the batch of `batch` consists of
  /// whole copies of it. All arguments must outlive the check.
  PlanCheck(Executor& executor, Backend& backend, const Graph& small, std::int64_t images,
            std::int64_t batch);

  /// The kernels that a run checks. Random kernels, which read the input `step`, treat copies of an
  /// image differently. After them a batch no longer consists of whole copies.
  enum class Kernels : std::uint8_t { that_draw, others };
  /// The argument for run_observed(); the run ends after the last relevant step.
  Executor::Observer observer(Kernels kernels);
  /// In the order of the plan. Steps with results that are not floating-point numbers are skipped.
  [[nodiscard]] const std::vector<CheckedKernel>& kernels() const { return kernels_; }

 private:
  void before(const Executor::ObservedStep& step, Kernels kernels);
  void after(const Executor::ObservedStep& step);
  [[nodiscard]] bool draws(const Step& step) const;
  /// Returns true if a step is one of the first two of its kind.
  bool wanted(const Step& step, Kernels kernels);
  /// Reads the inputs of the last copy of the images that kernels can read, if there is one.
  void read_last_inputs(const Executor::ObservedStep& step, const Node& node);
  void check_reorder(const Executor::ObservedStep& step);
  void check_node(const Executor::ObservedStep& step, const Node& node);
  /// The inputs of the last copy that differ too much from those of the first.
  std::vector<CheckedKernel> check_copies(const NodeInputs& first);
  /// The node of the small graph that a step runs; null for a reorder.
  [[nodiscard]] const Node* node_of(const Step& step) const;
  /// The inputs or the outputs of a node that are not opaque.
  struct Values {
    const std::vector<std::size_t>& buffers;
    std::span<const TensorView> views;
    /// The values of the small graph.
    const std::vector<ValueId>& ids;
    const std::vector<Pick>& picks;
  };
  std::vector<HostTensor> read(const Values& values, Arena& arena);
  /// The factor for the small batch's result.
  [[nodiscard]] double factor_of(const Node& node, const Shape& small, const Shape& whole) const;
  /// The checked shape of a reordered tensor: if it has an image extent, the first images.
  [[nodiscard]] Shape shape_of_reorder(const Step& step) const;
  void add(const Executor::ObservedStep& step, std::span<const CheckedKernel> outputs);

  const LoweredGraph& plan_;
  const Graph& small_;
  HostThreads threads_;
  bool narrow_filter_gradients_;
  PlanCheckMemory memory_;
  CanonicalReader reader_;
  /// How many copies of the compared images a batch holds.
  double copies_;
  /// True if copies of an image may be rounded differently: in 16 bits on a GPU. There, the order
  /// of a sum can depend on the place in the batch.
  bool copies_differ_;
  std::map<std::string, const Node*> nodes_;
  /// How many kernels of each kind were seen, and if the current step is checked.
  std::map<std::string, int> kinds_;
  bool looking_ = false;
  std::vector<HostTensor> inputs_;
  /// Those of the last copy of the images, if copies may differ and the step adds them up.
  std::vector<HostTensor> last_inputs_;
  /// For the current step.
  Arena arena_{memory_.node};
  /// The inputs of nodes with an opaque output, kept until the end.
  std::map<ValueId, NodeInputs> producers_;
  Arena kept_{memory_.kept};
  std::vector<CheckedKernel> kernels_;
};

}  // namespace bench
