#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kernels/candidates.h"
#include "kernels/cuda/backend/convolutions.h"
#include "kernels/cuda/backend/products.h"
#include "kernels/cuda/backend/rnn_layers.h"
#include "kernels/cuda/device/properties.h"
#include "kernels/cuda/device/runtime.h"
#include "kernels/cuda/gpu/view.h"

namespace bench::cuda {

/// What the makers of this backend's candidates share.
struct Context {
  DeviceProperties device;
  Convolutions& convolutions;
  Products& products;
  RnnLayers& rnn_layers;
};

/// Makes the candidates of a node; each op has a function of its name. The result is empty if the
/// op cannot run with any of the format's layouts.
using Maker = std::vector<Candidate>(Context&, const Graph&, const Node&, DataFormat);

/// The view of an NxCxHxW or NxC tensor.
View view_of(const Shape& shape, const Layout& layout);

/// One candidate per layout of an activation: make(layout, its view).
template <class Make>
std::vector<Candidate> per_view(const Shape& shape, DataFormat format, const Make& make) {
  return per_layout(plain_layouts(shape, format),
                    [&](const Layout& layout) { return make(layout, view_of(shape, layout)); });
}

/// The arguments of one launch of our kernels.
struct Launch : LaunchTensors {
  cudaStream_t stream;
};

/// This backend's stream of a Stream.
cudaStream_t handle_of(Stream& stream);

/// Wraps our kernels as a kernel of this backend. The body enqueues and neither waits nor
/// allocates.
std::function<std::unique_ptr<Kernel>()> make_gpu_kernel(std::function<void(const Launch&)> body);

/// A candidate of our kernels, bound by memory: its cost is the bytes that the node moves.
Candidate gpu_candidate(const Context& context, const Graph& graph, const Node& node,
                        std::vector<Layout> inputs, std::vector<Layout> outputs,
                        std::function<void(const Launch&)> body);

/// Rounds up to the alignment of buffers in a workspace.
constexpr std::size_t aligned(std::size_t bytes) {
  constexpr std::size_t kAlignment = 256;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Estimated time of a kernel that moves `bytes` bytes, with its launch.
double memory_seconds(const Context& context, double bytes);

}  // namespace bench::cuda
