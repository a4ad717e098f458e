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

/// The inverse of to_bytes.
std::vector<double> to_values(DType dtype, std::span<const std::byte> bytes);

/// Runs a graph through an Executor with poisoned memory. Numbers are passed as doubles in
/// canonical order, whatever the tensors' element types.
class GraphRunner {
 public:
  GraphRunner(const Graph& graph, Backend& backend, DataFormat format, bool deterministic = false);

  /// Sets the value of a graph input or a variable.
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

/// Turns a graph's variables into inputs with the same names, and their gradients into outputs
/// named "gradient/<variable>". Then variables can be f64 too.
Graph variables_as_inputs(const Graph& graph);

/// Where a case's weights are: among the graph's inputs, or in its variables.
enum class Weights : std::uint8_t { inputs, variables };

struct CaseOptions {
  /// Replaces f32 in the case's types; a 16-bit type only where mixed precision would use it.
  DType dtype = DType::f32;
  DataFormat format = DataFormat::automatic;
  Weights weights = Weights::inputs;
  /// Appends the op's gradient rule, if it has one.
  bool gradients = true;
  /// Uses only kernels that give the same bits each time.
  bool deterministic = false;
};

/// Inputs "in0".. (floating ones all want a gradient) and "dout0", the node, outputs "out0".. and
/// "grad0".. per input. Opaque outputs are omitted.
Graph case_graph(const KernelCase& kernel_case, const CaseOptions& options);

/// Numbers for a case's inputs and for the gradient of its first output.
struct CaseData {
  std::vector<std::vector<double>> inputs;
  std::vector<double> dout;
};
CaseData draw_case_data(const KernelCase& kernel_case, std::uint64_t seed);
/// The same numbers, rounded to the input types of a run with that `dtype`.
CaseData rounded(const KernelCase& kernel_case, DType dtype, CaseData data);

/// Every output and gradient of a run, by the names in case_graph.
using CaseOutputs = std::map<std::string, std::vector<double>>;

class CaseRunner {
 public:
  CaseRunner(KernelCase kernel_case, const CaseOptions& options, Backend& backend);
  CaseOutputs run(const CaseData& data);
  /// Runs again, on the inputs as the previous run left them.
  CaseOutputs run_again();
  /// The graph that runs, with fused nodes decomposed if the backend requires it.
  [[nodiscard]] const Graph& graph() const { return runner_.graph(); }
  /// The type that defines an output's precision: its own, or that of the activations if their
  /// rounding affects it.
  [[nodiscard]] DType precision(const std::string& output) const;

 private:
  KernelCase case_;
  DType dtype_;
  GraphRunner runner_;
};

/// BENCH_TEST_SEED from the environment, else 1.
std::uint64_t test_seed();

/// The kind of compared value: only gradients jump at an activation's kink.
enum class Result : std::uint8_t { output, gradient };

/// Empty if `actual`, stored in `dtype`, is correct, else a sentence that names the worst element.
/// The case sets the allowed error, in epsilons of the accumulation type. For 16 bits it adds a few
/// roundings to `dtype`; for an exact case it is 0. Refuses an expectation that is nearly all
/// zeros, because it proves nothing.
std::string compare(const KernelCase& kernel_case, DType dtype, Result result,
                    const std::vector<double>& actual, const std::vector<double>& expected);

}  // namespace bench
