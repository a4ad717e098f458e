#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kernels/backend.h"
#include "kernels/cuda/convolutions.h"
#include "kernels/cuda/gpu/view.h"
#include "kernels/cuda/products.h"
#include "kernels/cuda/properties.h"
#include "kernels/cuda/runtime.h"

namespace bench::cuda {

/// What every candidate of this backend is made from.
struct Context {
  DeviceProperties device;
  Convolutions& convolutions;
  Products& products;
};

/// What makes the candidates of a node, for each op a function of its name; they are empty when the
/// op cannot run with any of the format's layouts.
using Maker = std::vector<Candidate>(Context&, const Graph&, const Node&, DataFormat);

// Layouts: "nchw" and "nhwc" for activations and filters (OIHW and OHWI), row-major for the rest.
Layout nchw();
Layout nhwc();
/// Row-major: "nchw", "nc", "x" or "scalar" by rank.
Layout canonical(std::size_t rank);
/// Those of an activation under a format, best first: both of rank 4 for automatic.
std::vector<Layout> activation_layouts(const Shape& shape, DataFormat format);
/// Of each of the values: `layout` for those of rank 4, their canonical one for others.
std::vector<Layout> layouts_of(const Graph& graph, const std::vector<ValueId>& values,
                               const Layout& layout);
/// Of an NxCxHxW or NxC tensor.
View view_of(const Shape& shape, const Layout& layout);

/// What a kernel of ours gets at each launch.
struct Launch {
  cudaStream_t stream;
  std::span<const TensorView> inputs;
  std::span<const TensorView> outputs;
  void* workspace;

  /// Null for a negative position.
  [[nodiscard]] const void* in(int position) const {
    return position < 0 ? nullptr : inputs[static_cast<std::size_t>(position)].data;
  }
  [[nodiscard]] void* out(int position) const {
    return position < 0 ? nullptr : outputs[static_cast<std::size_t>(position)].data;
  }
  /// The same where elements are f32 whatever the activations are.
  [[nodiscard]] const float* floats_in(int position) const {
    return static_cast<const float*>(in(position));
  }
  [[nodiscard]] float* floats_out(int position) const { return static_cast<float*>(out(position)); }
};

/// The stream of this backend behind a Stream.
cudaStream_t handle_of(Stream& stream);

/// Our own kernels as a kernel of this backend. The body enqueues and neither waits nor allocates.
std::function<std::unique_ptr<Kernel>()> make_gpu_kernel(std::function<void(const Launch&)> body);

/// A candidate of our own kernels, bound by memory: its cost is the bytes the node moves.
Candidate gpu_candidate(const Context& context, const Graph& graph, const Node& node,
                        std::vector<Layout> inputs, std::vector<Layout> outputs,
                        std::function<void(const Launch&)> body);

/// Estimated time of a kernel that moves so many bytes, with its launch.
double memory_seconds(const Context& context, double bytes);

}  // namespace bench::cuda
