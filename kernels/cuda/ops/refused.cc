#include "kernels/cuda/ops/refused.h"

#include "kernels/cuda/device/context.h"
#include "models/ops/rnn.h"

namespace bench::cuda {

// Ops on u8 and s8 are not supported here; ops that pass quanta through support only floating
// types.
std::string why_not(const OpDef& op) {
  if (op.quanta == Quanta::own) {
    return "int8 runs only on the CPU (oneDNN)";
  }
  return &op == &kRnn || &op == &kRnnBackward ? "RNN layers run only on the CPU (oneDNN)" : "";
}

#define BENCH_REFUSED_OP(name)                                                                    \
  std::vector<Candidate> name(Context& /*context*/, const Graph& /*graph*/, const Node& /*node*/, \
                              DataFormat /*format*/) {                                            \
    return {};                                                                                    \
  }
BENCH_REFUSED_OP(quantize)
BENCH_REFUSED_OP(dequantize)
BENCH_REFUSED_OP(quantized_add)
BENCH_REFUSED_OP(quantized_conv2d)
BENCH_REFUSED_OP(quantized_fully_connected)
BENCH_REFUSED_OP(quantized_spatial_mean)
BENCH_REFUSED_OP(rnn)
BENCH_REFUSED_OP(rnn_backward)
#undef BENCH_REFUSED_OP

}  // namespace bench::cuda
