#include "kernels/cuda/ops/refused.h"

#include <algorithm>
#include <initializer_list>

#include "kernels/cuda/device/context.h"
#include "models/ops/concat_batch_norm.h"
#include "models/ops/ctc_loss.h"
#include "models/ops/multibox_loss.h"

namespace bench::cuda {

// Ops on u8 and s8 are not supported here; ops that pass quanta through support only floating
// types.
std::string why_not(const OpDef& op) {
  if (op.quanta == Quanta::own) {
    return "int8 runs only on the CPU (oneDNN)";
  }
  const auto any_of = [&](std::initializer_list<const OpDef*> ops) {
    return std::find(ops.begin(), ops.end(), &op) != ops.end();
  };
  if (any_of({&kCtcLoss, &kCtcLossBackward, &kConcatBatchNorm, &kMultiboxLoss,
              &kMultiboxLossBackward})) {
    return fmt::format("{} runs only on the CPU", op.name);
  }
  return "";
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
BENCH_REFUSED_OP(ctc_loss)
BENCH_REFUSED_OP(ctc_loss_backward)
BENCH_REFUSED_OP(concat_batch_norm)
BENCH_REFUSED_OP(multibox_loss)
BENCH_REFUSED_OP(multibox_loss_backward)
#undef BENCH_REFUSED_OP

}  // namespace bench::cuda
