#include "models/ops/fully_connected.h"

#include "kernels/reference/operations.h"

namespace bench::reference {

Operation fully_connected(const Graph&, const Node&) {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
    out[0].matrix().noalias() = in[0].matrix() * in[1].matrix().transpose();
  }};
}

Operation fully_connected_backward_data(const Graph&, const Node&) {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
    out[0].matrix().noalias() = in[0].matrix() * in[1].matrix();
  }};
}

Operation fully_connected_backward_weights(const Graph&, const Node&) {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
    out[0].matrix().noalias() = in[0].matrix().transpose() * in[1].matrix();
  }};
}

}  // namespace bench::reference
