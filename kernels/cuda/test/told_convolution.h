#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/cuda/backend/convolutions.h"
#include "kernels/cuda/test/convolution_cases.h"

// A convolution and its graph as they are described to cuDNN. They are read back from cuDNN's plans
// and computed with plain loops over strides. The expected results are computed from the problem.

namespace bench::cuda {

/// A launch's tensors: first, second and result.
using Tensors = std::array<std::vector<double>, 3>;

/// The extents of the first, second or third of a launch's tensors.
const Extents& extents_at(const ConvolutionProblem& problem, std::size_t position);

/// Small whole numbers, and zeros for the result: sums are exact in any order.
Tensors draw_tensors(const ConvolutionProblem& problem);
std::vector<double> draw_whole_numbers(std::int64_t count, std::uint64_t seed);

/// The offset of an element, from the order alone.
std::size_t place(const Extents& extents, Order order, const Extents& index);

/// The expected result, without the epilogue.
std::vector<double> expected(const ConvolutionProblem& problem, Tensors tensors);

/// A tensor in cuDNN's description.
struct ToldTensor {
  std::int64_t id = 0;
  std::string type;
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
};

/// A convolution in cuDNN's description.
struct Told {
  Pass pass = Pass::forward;
  ToldTensor x;
  ToldTensor filter;
  ToldTensor y;
  bool flipped = false;
  std::string sums;
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> after;
  std::vector<std::int64_t> dilation;
  std::vector<std::int64_t> stride;
  double alpha = 0;
  double beta = 1;
};

/// A tensor of a plan's operation graph.
ToldTensor told_tensor(const nlohmann::json& graph, const std::string& name);
/// A convolution that is a node of the graph.
Told told_convolution(const nlohmann::json& graph, const nlohmann::json& node);
/// The operation graph of the first plan for a problem, as the plan reports it. Operations report
/// less, since cuDNN converts theirs to another form.
nlohmann::json told_graph(const ConvolutionProblem& problem);

/// Tensor data by tensor id.
using Memories = std::map<std::int64_t, std::vector<double>>;

/// Adds the convolution to the data of its result. Returns false if it accesses data outside of its
/// tensors, or if y's extents do not match the window.
bool convolve(const Told& told, Memories& memories);

/// Computes all operations of a graph in the given order, with storage for virtual tensors. Returns
/// false if one accesses data outside of its tensors. Throws InternalError for an operation that
/// our graphs do not have.
bool run_graph(const nlohmann::json& graph, Memories& memories);

/// Finds a tensor of the graph, so that tests can plant faults.
nlohmann::json& told_tensor_in(nlohmann::json& graph, const std::string& name);

}  // namespace bench::cuda
