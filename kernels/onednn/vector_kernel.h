#pragma once

#include <functional>

#include "kernels/cpu/channel_view.h"
#include "kernels/onednn/context.h"

namespace bench::onednn {

/// What a vector kernel gets at each launch.
struct Launch : LaunchTensors {
  cpu::ThreadTeam& team;
};

/// One of our own vector kernels as a kernel of this backend.
std::function<std::unique_ptr<Kernel>()> make_vector_kernel(
    Context& context, std::function<void(const Launch&)> body);

/// The view of an NxCxHxW or NxC tensor in a layout.
cpu::ChannelView channel_view(const Context& context, const Shape& shape, const Layout& layout);

/// One candidate per layout of an activation: make(layout, its view).
template <class Make>
std::vector<Candidate> per_view(const Context& context, const TensorType& type, DataFormat format,
                                const Make& make) {
  return per_layout(activation_layouts(context, type, format), [&](const Layout& layout) {
    return make(layout, channel_view(context, type.shape, layout));
  });
}

/// A candidate of a memory-bound vector kernel: its cost is the bytes the node moves.
Candidate vector_candidate(Context& context, const Graph& graph, const Node& node,
                           std::vector<Layout> inputs, std::vector<Layout> outputs,
                           std::function<void(const Launch&)> body);

}  // namespace bench::onednn
