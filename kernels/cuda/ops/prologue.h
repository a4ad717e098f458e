#pragma once

#include <string>

#include "kernels/cuda/context.h"
#include "kernels/cuda/convolutions.h"
#include "models/ops/batch_norm.h"

namespace bench::cuda {

/// What a convolution, or its filter gradient, reads x through: a batch norm with given statistics.
/// Either the plan scales, shifts and cuts x off at 0 while it reads it, and gets the two factors
/// of each channel in the type of x, or a kernel of ours writes what the plan reads before.
class PrologueRunner {
 public:
  /// Of a node whose x is its input at that position; in_plan: by the plan.
  PrologueRunner(const Graph& graph, const Node& node, const BatchNormAttributes& prologue, int x,
                 const Layout& layout, bool in_plan);

  /// Scratch, at the beginning of what run() is given.
  [[nodiscard]] std::size_t workspace_bytes() const;
  /// What is read and written besides x, which the node's work counts.
  [[nodiscard]] std::int64_t intermediate_bytes() const;
  [[nodiscard]] bool in_plan() const { return in_plan_; }

  /// Enqueues what comes before the plan, and gives the plan's memory what it reads in place of x.
  void run(const Launch& launch, void* workspace, const void*& x, ConvolutionMemory& memory) const;

 private:
  [[nodiscard]] std::size_t vector_bytes() const;

  BatchNormInputs at_;
  ActivationKind activation_;
  double epsilon_;
  View view_;
  DType dtype_;
  int x_;
  bool in_plan_;
};

/// Why a prologue is not to be had in one graph with the convolution of a problem, which has one;
/// empty where it is.
std::string why_no_prologue(const Context& context, const BatchNormAttributes& prologue,
                            const ConvolutionProblem& problem);

}  // namespace bench::cuda
