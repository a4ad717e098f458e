// Ops that move single bytes, whatever their meaning: channels joined, shuffled, padded.

#include <algorithm>
#include <cstring>

#include "kernels/onednn/quantized.h"
#include "kernels/onednn/vector_kernel.h"
#include "models/base/errors.h"
#include "models/ops/channel_shuffle.h"
#include "models/ops/channel_slice.h"
#include "models/ops/concat.h"
#include "models/ops/spatial_pad.h"

namespace bench::onednn {
namespace {

/// Bytes that are enough work to wake a thread.
constexpr std::int64_t kGrainBytes = 16384;

std::int64_t grain_of(std::int64_t row_bytes) {
  return std::max<std::int64_t>(1, kGrainBytes / std::max<std::int64_t>(1, row_bytes));
}

const std::uint8_t* bytes_in(const Launch& launch, std::size_t position) {
  return launch.inputs[position].as<const std::uint8_t>();
}
std::uint8_t* bytes_out(const Launch& launch) { return launch.outputs[0].as<std::uint8_t>(); }

Candidate mover(Context& context, const Graph& graph, const Node& node, const Layout& layout,
                std::function<void(const Launch&)> body) {
  Candidate candidate =
      vector_candidate(context, graph, node, std::vector<Layout>(node.inputs.size(), layout),
                       {layout}, std::move(body));
  candidate.implementation = "quanta";
  return candidate;
}

/// A part of each row of the output: bytes of an input's row from `begin` on, or zeros.
struct Run {
  static constexpr int kZeros = -1;
  int input = kZeros;
  std::int64_t begin = 0;
  std::int64_t count = 0;
  /// The length of the input's row in bytes.
  std::int64_t stride = 0;
};

/// The runs of channels that form an op's output.
std::vector<Run> runs_of(const Graph& graph, const Node& node) {
  const std::int64_t channels = graph.shape(node.inputs[0])[1];
  if (node.op == &kChannelSlice) {
    const auto& slice = node.attributes.as<ChannelSliceAttributes>();
    return {{.input = 0, .begin = slice.begin, .count = slice.count, .stride = channels}};
  }
  if (node.op == &kChannelPad) {
    const auto& pad = node.attributes.as<ChannelPadAttributes>();
    return {{.count = pad.before},
            {.input = 0, .count = channels, .stride = channels},
            {.count = pad.after}};
  }
  check(node.op == &kConcat, fmt::format("onednn: {} does not join channels", node.op->name));
  std::vector<Run> runs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const std::int64_t count = graph.shape(node.inputs[i])[1];
    runs.push_back({.input = static_cast<int>(i), .count = count, .stride = count});
  }
  return runs;
}

void join_row(const Launch& launch, const std::vector<Run>& runs, std::int64_t row,
              std::uint8_t* to) {
  for (const Run& run : runs) {
    const auto count = static_cast<std::size_t>(run.count);
    if (run.input == Run::kZeros) {
      std::memset(to, 0, count);
    } else {
      std::memcpy(
          to, bytes_in(launch, static_cast<std::size_t>(run.input)) + row * run.stride + run.begin,
          count);
    }
    to += run.count;
  }
}

}  // namespace

std::vector<Candidate> join_quanta(Context& context, const Graph& graph, const Node& node,
                                   DataFormat format) {
  const Shape& shape = graph.shape(node.outputs[0]);
  const Layout layout = quantized_layout(shape, format);
  const std::int64_t area = shape[2] * shape[3];
  const bool nhwc = layout == bench::nhwc();
  std::vector<Run> runs = runs_of(graph, node);
  for (Run& run : runs) {
    const std::int64_t per_channel = nhwc ? 1 : area;
    run.begin *= per_channel;
    run.count *= per_channel;
    run.stride *= per_channel;
  }
  const std::int64_t rows = nhwc ? shape[0] * area : shape[0];
  const std::int64_t row_bytes = shape.elements() / rows;
  return {mover(context, graph, node, layout, [=](const Launch& launch) {
    launch.team.for_ranges(rows, grain_of(row_bytes), [&](cpu::Range range) {
      for (std::int64_t row = range.begin; row < range.end; ++row) {
        join_row(launch, runs, row, bytes_out(launch) + row * row_bytes);
      }
    });
  })};
}

std::vector<Candidate> shuffle_quanta(Context& context, const Graph& graph, const Node& node,
                                      DataFormat format) {
  const Shape& shape = graph.shape(node.outputs[0]);
  const Layout layout = quantized_layout(shape, format);
  const std::int64_t channels = shape[1];
  const std::int64_t area = shape[2] * shape[3];
  const std::int64_t groups = node.attributes.as<ChannelShuffleAttributes>().groups;
  // A row is a pixel's channels in NHWC, and an image's planes in NCHW.
  const bool nhwc = layout == bench::nhwc();
  const std::int64_t rows = nhwc ? shape[0] * area : shape[0];
  const std::int64_t width = nhwc ? 1 : area;
  const std::int64_t per_group = channels / groups;
  return {mover(context, graph, node, layout, [=](const Launch& launch) {
    launch.team.for_ranges(rows, grain_of(channels * width), [&](cpu::Range range) {
      for (std::int64_t row = range.begin; row < range.end; ++row) {
        const std::uint8_t* const from = bytes_in(launch, 0) + row * channels * width;
        std::uint8_t* to = bytes_out(launch) + row * channels * width;
        for (std::int64_t i = 0; i < per_group; ++i) {
          for (std::int64_t g = 0; g < groups; ++g, to += width) {
            std::copy_n(from + (g * per_group + i) * width, width, to);
          }
        }
      }
    });
  })};
}

std::vector<Candidate> pad_quanta(Context& context, const Graph& graph, const Node& node,
                                  DataFormat format) {
  const Shape& x = graph.shape(node.inputs[0]);
  const Shape& y = graph.shape(node.outputs[0]);
  const Layout layout = quantized_layout(y, format);
  const auto& pad = node.attributes.as<SpatialPadAttributes>();
  const bool nhwc = layout == bench::nhwc();
  // Planes of pixels, each pixel all channels in NHWC and one in NCHW.
  const std::int64_t planes = nhwc ? y[0] : y[0] * y[1];
  const std::int64_t pixel = nhwc ? y[1] : 1;
  const std::array<std::int64_t, 2> before = pad.before;
  // Columns of the input that stay, as columns of the output.
  const std::int64_t first = std::max<std::int64_t>(0, before[1]);
  const std::int64_t last = std::max(first, std::min(y[3], x[3] + before[1]));
  return {mover(
      context, graph, node, layout,
      [=, height = y[2], width = y[3], from_height = x[2],
       from_width = x[3]](const Launch& launch) {
        launch.team.for_ranges(planes * height, grain_of(width * pixel), [&](cpu::Range range) {
          for (std::int64_t row = range.begin; row < range.end; ++row) {
            const std::int64_t line = row % height - before[0];
            std::uint8_t* const to = bytes_out(launch) + row * width * pixel;
            std::memset(to, 0, static_cast<std::size_t>(width * pixel));
            if (line < 0 || line >= from_height) {
              continue;
            }
            const std::int64_t from_row = row / height * from_height + line;
            std::memcpy(to + first * pixel,
                        bytes_in(launch, 0) + (from_row * from_width + first - before[1]) * pixel,
                        static_cast<std::size_t>((last - first) * pixel));
          }
        });
      })};
}

std::vector<Candidate> flatten_quanta(Context& context, const Graph& graph, const Node& node,
                                      DataFormat /*format*/) {
  const auto bytes = static_cast<std::size_t>(graph.shape(node.outputs[0]).elements());
  Candidate candidate = vector_candidate(
      context, graph, node, {nchw()}, {row_major(2)}, [bytes](const Launch& launch) {
        if (launch.outputs[0].data != launch.inputs[0].data) {
          std::memcpy(launch.outputs[0].data, launch.inputs[0].data, bytes);
        }
      });
  candidate.implementation = "quanta";
  candidate.may_overwrite = {{.output = 0, .input = 0}};
  return {candidate};
}

}  // namespace bench::onednn
