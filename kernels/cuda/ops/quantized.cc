#include "kernels/cuda/ops/quantized.h"

#include "kernels/cuda/device/context.h"

namespace bench::cuda {

// Ops on u8 and s8 are not supported here; ops that pass quanta through support only floating
// types.
std::string why_not(const OpDef& op) {
  return op.quanta == Quanta::own ? "int8 runs only on the CPU (oneDNN)" : "";
}

std::vector<Candidate> quantize(Context& /*context*/, const Graph& /*graph*/, const Node& /*node*/,
                                DataFormat /*format*/) {
  return {};
}

std::vector<Candidate> dequantize(Context& /*context*/, const Graph& /*graph*/,
                                  const Node& /*node*/, DataFormat /*format*/) {
  return {};
}

std::vector<Candidate> quantized_add(Context& /*context*/, const Graph& /*graph*/,
                                     const Node& /*node*/, DataFormat /*format*/) {
  return {};
}

std::vector<Candidate> quantized_conv2d(Context& /*context*/, const Graph& /*graph*/,
                                        const Node& /*node*/, DataFormat /*format*/) {
  return {};
}

std::vector<Candidate> quantized_fully_connected(Context& /*context*/, const Graph& /*graph*/,
                                                 const Node& /*node*/, DataFormat /*format*/) {
  return {};
}

std::vector<Candidate> quantized_spatial_mean(Context& /*context*/, const Graph& /*graph*/,
                                              const Node& /*node*/, DataFormat /*format*/) {
  return {};
}

}  // namespace bench::cuda
