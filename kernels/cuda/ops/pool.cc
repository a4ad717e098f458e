#include "kernels/cuda/gpu/pool.h"

#include <array>

#include "kernels/cuda/ops/makers.h"
#include "kernels/cuda/ops/window_axes.h"
#include "models/base/errors.h"
#include "models/ops/pool.h"

namespace bench::cuda {
namespace {

/// The pooling of a forward or backward node.
ChannelWindows pooling_of(const Graph& graph, const Node& node, const Layout& layout) {
  const auto& attributes = node.attributes.as<PoolAttributes>();
  return channel_windows(attributes.window, attributes.input, graph.type(node.inputs[0]).dtype,
                         view_of(attributes.input, layout).order);
}

Layout layout_of_winners(const Layout& layout) {
  return Layout(fmt::format("indices of {}", layout.token()));
}

bool has_too_many_taps(const Node& node) {
  const Window& window = node.attributes.as<PoolAttributes>().window;
  return window.kernel[0] * window.kernel[1] > kMostTaps;
}

/// True if each window is a whole plane. The result is then sums of channels, which have separate
/// kernels.
bool averages_planes(const Node& node) {
  const auto& attributes = node.attributes.as<PoolAttributes>();
  const Window& window = attributes.window;
  const std::array<std::int64_t, 2> none{};
  const std::array<std::int64_t, 2> plane{attributes.input[2], attributes.input[3]};
  return window.kernel == plane && window.pad_before == none && window.pad_after == none &&
         window.dilation == std::array<std::int64_t, 2>{1, 1};
}

bool covers_padding_alone(const WindowAxis& axis) {
  for (int output = 0; output < axis.output; ++output) {
    bool inside = false;
    for (int tap = 0; tap < axis.kernel && !inside; ++tap) {
      const int place = output * axis.stride + tap * axis.dilation - axis.pad_before;
      inside = place >= 0 && place < axis.input;
    }
    if (!inside) {
      return true;
    }
  }
  return false;
}

ChannelWindows averaging_of(const Graph& graph, const Node& node, const Layout& layout) {
  const ChannelWindows pooling = pooling_of(graph, node, layout);
  check(!covers_padding_alone(pooling.height) && !covers_padding_alone(pooling.width),
        "avg_pool: a window covers only padding");
  return pooling;
}

}  // namespace

std::vector<Candidate> max_pool(Context& context, const Graph& graph, const Node& node,
                                DataFormat format) {
  if (has_too_many_taps(node)) {
    return {};
  }
  return per_layout(plain_layouts(graph.shape(node.inputs[0]), format), [&](const Layout& layout) {
    const ChannelWindows pooling = pooling_of(graph, node, layout);
    Candidate candidate =
        gpu_candidate(context, graph, node, {layout}, {layout, layout_of_winners(layout)},
                      [pooling](const Launch& launch) {
                        max_pool_forward(launch.stream, {.pooling = pooling,
                                                         .x = launch.in(0),
                                                         .y = launch.out(0),
                                                         .winners = launch.out(1)});
                      });
    candidate.opaque_bytes = {0, winner_bytes(pooling)};
    return candidate;
  });
}

std::vector<Candidate> max_pool_backward(Context& context, const Graph& graph, const Node& node,
                                         DataFormat format) {
  if (has_too_many_taps(node)) {
    return {};
  }
  return per_layout(plain_layouts(graph.shape(node.outputs[0]), format), [&](const Layout& layout) {
    const ChannelWindows pooling = pooling_of(graph, node, layout);
    return gpu_candidate(context, graph, node, {layout, layout_of_winners(layout)}, {layout},
                         [pooling](const Launch& launch) {
                           max_pool_gradient(launch.stream, {.pooling = pooling,
                                                             .dy = launch.in(0),
                                                             .winners = launch.in(1),
                                                             .dx = launch.out(0)});
                         });
  });
}

std::vector<Candidate> avg_pool(Context& context, const Graph& graph, const Node& node,
                                DataFormat format) {
  if (averages_planes(node)) {
    return spatial_mean(context, graph, node, format);
  }
  return per_layout(plain_layouts(graph.shape(node.inputs[0]), format), [&](const Layout& layout) {
    return gpu_candidate(context, graph, node, {layout}, {layout},
                         [pooling = averaging_of(graph, node, layout)](const Launch& launch) {
                           avg_pool_forward(
                               launch.stream,
                               {.pooling = pooling, .x = launch.in(0), .y = launch.out(0)});
                         });
  });
}

std::vector<Candidate> avg_pool_backward(Context& context, const Graph& graph, const Node& node,
                                         DataFormat format) {
  if (averages_planes(node)) {
    return spatial_mean_backward(context, graph, node, format);
  }
  return per_layout(plain_layouts(graph.shape(node.outputs[0]), format), [&](const Layout& layout) {
    return gpu_candidate(context, graph, node, {layout}, {layout},
                         [pooling = averaging_of(graph, node, layout)](const Launch& launch) {
                           avg_pool_gradient(
                               launch.stream,
                               {.pooling = pooling, .dy = launch.in(0), .dx = launch.out(0)});
                         });
  });
}

}  // namespace bench::cuda
