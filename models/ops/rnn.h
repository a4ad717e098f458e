#pragma once

#include <iosfwd>
#include <string_view>

#include "models/ir/op.h"

namespace bench {

/// The function from the input x and the state h of one step to the next state h'. Here S is the
/// sigmoid and * multiplies elements. Each gate has weights and biases:
/// a = w_x x + b_x and b = w_h h + b_h. The gates' order is that of the weights.
///
/// - relu, tanh: h' = f(a + b).
/// - lstm, gates i, f, g, o: c' = S(a_f + b_f) * c + S(a_i + b_i) * tanh(a_g + b_g);
///   h' = S(a_o + b_o) * tanh(c'). Gers et al., Neural Computation 12(10), 2000.
/// - gru_reset_before, gates z, r, n: z = S(a_z + b_z); r = S(a_r + b_r);
///   n = tanh(a_n + w_hn (r * h) + b_hn); h' = z * h + (1 - z) * n. Cho et al., arXiv:1406.1078.
///   TensorFlow's GRUCell.
/// - gru_reset_after: the same, but n = tanh(a_n + r * (w_hn h + b_hn)). PyTorch and cuDNN.
///
/// PyTorch stores the gates of a GRU as r, z, n.
enum class RnnCell : std::uint8_t { relu, tanh, lstm, gru_reset_before, gru_reset_after };
std::string_view name_of(RnnCell cell);

/// The gates of a cell.
constexpr std::int64_t gates_of(RnnCell cell) {
  switch (cell) {
    case RnnCell::relu:
    case RnnCell::tanh:
      return 1;
    case RnnCell::lstm:
      return 4;
    case RnnCell::gru_reset_before:
    case RnnCell::gru_reset_after:
      return 3;
  }
  return 0;
}

struct RnnAttributes {
  RnnCell cell = RnnCell::lstm;
  /// There is a second bias, b_h.
  bool hidden_bias = false;
  /// The sequences have different lengths.
  bool lengths = false;
  /// A constant added to the bias of an LSTM's forget gates, as in TensorFlow.
  double forget_bias = 0;
  bool operator==(const RnnAttributes&) const = default;
};
std::ostream& operator<<(std::ostream& out, const RnnAttributes& attributes);

/// One layer, over all T steps. There are D = 1 or 2 directions with G gates and H units each.
///
/// Inputs: x[T,N,I], w_x[D,G,H,I], w_h[D,G,H,H], b_x[D*G*H].
/// Inputs that the attributes add: b_h[D*G*H], lengths s32[N].
/// Outputs: y[T,N,D*H], workspace.
///
/// y has the states of all steps. The second direction begins with the last step, and its states
/// follow those of the first. The initial states h and c are 0. From step lengths[n] on, y is 0 for
/// sequence n and its state does not change. `workspace` is opaque and for the backward pass only.
extern const OpDef kRnn;
/// (dy, the inputs of the forward pass, y, workspace) -> (dx, dw_x, dw_h, db_x, [db_h]); the
/// attributes are those of kRnn.
extern const OpDef kRnnBackward;

}  // namespace bench
