#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "kernels/cases/kernel_case.h"
#include "kernels/executor.h"

namespace bench {

/// The reverse of to_bytes.
std::vector<double> to_values(DType dtype, std::span<const std::byte> bytes);

/// Runs a graph through an Executor with poisoned memory; numbers come and go as doubles in
/// canonical order, whatever the tensors' element types.
class GraphRunner {
 public:
  GraphRunner(const Graph& graph, Backend& backend, DataFormat format);

  /// Gives a graph input or a variable its value.
  void set(const std::string& name, std::span<const double> values);
  void run();
  /// A named output of the last run.
  [[nodiscard]] std::vector<double> output(const std::string& name);
  /// The gradient of a variable of the last run.
  [[nodiscard]] std::vector<double> gradient(const std::string& variable);
  [[nodiscard]] const Graph& graph() const { return executor_.graph(); }

 private:
  Executor executor_;
  std::map<std::string, std::vector<double>> inputs_;
};

/// A graph's variables turned into inputs of the same names, and their gradients into outputs named
/// "gradient/<variable>"; so that variables too can be f64.
Graph variables_as_inputs(const Graph& graph);

/// Where a case's weights are: among the graph's inputs, or in its variables.
enum class Weights : std::uint8_t { inputs, variables };

struct CaseOptions {
  /// Replaces f32 in the case's types; one of 16 bits does where mixed precision would.
  DType dtype = DType::f32;
  DataFormat format = DataFormat::automatic;
  Weights weights = Weights::inputs;
  /// Appends the op's gradient rule, if it has one.
  bool gradients = true;
};

/// Inputs "in0".. (of floating type ones all want a gradient) and "dout0", the node, outputs
/// "out0".. and "grad0".. per input; opaque outputs are left out.
Graph case_graph(const KernelCase& kernel_case, const CaseOptions& options);

/// Numbers for a case's inputs and for the gradient that flows into its first output.
struct CaseData {
  std::vector<std::vector<double>> inputs;
  std::vector<double> dout;
};
CaseData draw_case_data(const KernelCase& kernel_case, std::uint64_t seed);
/// The same with every number rounded to what a run with that `dtype` is given.
CaseData rounded(const KernelCase& kernel_case, DType dtype, CaseData data);

/// Every output and gradient of a run, by the names in case_graph.
using CaseOutputs = std::map<std::string, std::vector<double>>;

class CaseRunner {
 public:
  CaseRunner(KernelCase kernel_case, const CaseOptions& options, Backend& backend);
  CaseOutputs run(const CaseData& data);
  /// Another run, on the inputs as the one before has left them.
  CaseOutputs run_again();
  /// The graph as it runs, fused nodes taken apart where the backend wants that.
  [[nodiscard]] const Graph& graph() const { return runner_.graph(); }
  /// The type that stands for an output's digits: its own, but that of the activations where their
  /// rounding is in it too.
  [[nodiscard]] DType precision(const std::string& output) const;

 private:
  KernelCase case_;
  DType dtype_;
  GraphRunner runner_;
};

/// BENCH_TEST_SEED from the environment, else 1.
std::uint64_t test_seed();

/// What is compared: only gradients jump where an activation bends.
enum class Result : std::uint8_t { output, gradient };

/// Empty when `actual`, stored in `dtype`, is right, else a sentence that names the worst element.
/// The allowed error is the case's, in epsilons of the type that sums are made in; for 16 bits a
/// few roundings to `dtype` besides; none for an exact case. An expectation that is nearly all
/// zeros proves nothing and is refused too.
std::string compare(const KernelCase& kernel_case, DType dtype, Result result,
                    const std::vector<double>& actual, const std::vector<double>& expected);

}  // namespace bench
