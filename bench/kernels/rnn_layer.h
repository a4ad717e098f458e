#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/ir/graph.h"
#include "models/ops/rnn.h"

namespace bench {

/// A recurrent layer to measure: `steps` steps of `batch` sequences, with as many inputs as units.
struct RnnLayerSize {
  RnnCell cell = RnnCell::lstm;
  std::int64_t units = 0;
  std::int64_t batch = 0;
  std::int64_t steps = 0;
};

/// "lstm/h512/n16/t25".
std::string name_of(const RnnLayerSize& size);

/// The layers of DeepBench (github.com/baidu-research/DeepBench, code/kernels/rnn_problems.h). If
/// layers differ only in the number of steps, only the shortest is listed. As
/// DeepBench has it on NVIDIA GPUs, the vanilla cell has ReLU and the GRU resets after the product.
std::vector<RnnLayerSize> training_layers();
std::vector<RnnLayerSize> inference_layers();

/// How a graph computes a layer: with the op `rnn`, or from the products, sums and functions of
/// each step.
enum class RnnForm : std::uint8_t { fused, stepwise };
std::string_view name_of(RnnForm form);

/// Returns true if the layer can be built from elementary ops: all cells but GRU.
bool has_stepwise_form(RnnCell cell);

/// The layer's graph. Variables: the input, f32, as x[T,N,I] or x0.. of a step each; w_x, w_h and
/// b_x. Outputs: y or y0... With `loss`, the output "loss" is the sum of the squares of all states,
/// halved, so that a gradient flows into every state.
Graph rnn_layer_graph(const RnnLayerSize& size, RnnForm form, bool loss);

}  // namespace bench
