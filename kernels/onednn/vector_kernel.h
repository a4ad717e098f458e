#pragma once

#include <functional>

#include "kernels/cpu/channel_view.h"
#include "kernels/onednn/context.h"

namespace bench::onednn {

/// What a vector kernel gets at each launch.
struct Launch {
  cpu::ThreadTeam& team;
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
  /// The same for elements that are f32 whatever the type of the activations.
  [[nodiscard]] const float* floats_in(int position) const {
    return static_cast<const float*>(in(position));
  }
  [[nodiscard]] float* floats_out(int position) const { return static_cast<float*>(out(position)); }
};

/// One of our own vector kernels as a kernel of this backend.
std::function<std::unique_ptr<Kernel>()> make_vector_kernel(
    Context& context, std::function<void(const Launch&)> body);

/// The view of an NxCxHxW or NxC tensor in a layout.
cpu::ChannelView channel_view(const Context& context, const Shape& shape, const Layout& layout);

/// One candidate per layout of an activation: make(layout, its view).
template <class Make>
std::vector<Candidate> per_view(const Context& context, const Shape& shape, DataFormat format,
                                const Make& make) {
  return per_layout(activation_layouts(context, shape, format), [&](const Layout& layout) {
    return make(layout, channel_view(context, shape, layout));
  });
}

/// A candidate of a memory-bound vector kernel: its cost is the bytes the node moves.
Candidate vector_candidate(Context& context, const Graph& graph, const Node& node,
                           std::vector<Layout> inputs, std::vector<Layout> outputs,
                           std::function<void(const Launch&)> body);

}  // namespace bench::onednn
