#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/cuda/convolutions.h"
#include "kernels/cuda/test/convolution_cases.h"

// A convolution, and what is in one graph with it, as cuDNN was told of it, read back from its own
// plans and computed with plain loops over strides; and the same as a problem asks for it.

namespace bench::cuda {

/// Of a launch: first, second and result.
using Tensors = std::array<std::vector<double>, 3>;

/// The extents of the first, second or third of a launch's tensors.
const Extents& extents_at(const ConvolutionProblem& problem, std::size_t position);

/// Small whole numbers, and zeros for the result: sums are exact in any order.
Tensors draw_tensors(const ConvolutionProblem& problem);
std::vector<double> draw_whole_numbers(std::int64_t count, std::uint64_t seed);

/// Where an element lies, by the order alone.
std::size_t place(const Extents& extents, Order order, const Extents& index);

/// What the problem asks for, but for its epilogue.
std::vector<double> expected(const ConvolutionProblem& problem, Tensors tensors);

/// A tensor as cuDNN has it.
struct ToldTensor {
  std::int64_t id = 0;
  std::string type;
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
};

/// A convolution as cuDNN has it.
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
/// A convolution that is a node of it.
Told told_convolution(const nlohmann::json& graph, const nlohmann::json& node);
/// The operation graph of the first plan for a problem, as the plan tells it. Operations say less:
/// theirs are brought into another form.
nlohmann::json told_graph(const ConvolutionProblem& problem);

/// Memory of tensors by their ids.
using Memories = std::map<std::int64_t, std::vector<double>>;

/// Adds that convolution to the memory of its result; false where it reads or writes outside of its
/// tensors or y's extents are not those of the window.
bool convolve(const Told& told, Memories& memories);

/// Computes all operations of a graph in the order told, with memory for what is in none; false
/// where one reads or writes outside of its tensors. Throws InternalError for an operation that our
/// graphs do not have.
bool run_graph(const nlohmann::json& graph, Memories& memories);

/// For faults to be planted: that tensor of the graph.
nlohmann::json& told_tensor_in(nlohmann::json& graph, const std::string& name);

}  // namespace bench::cuda
