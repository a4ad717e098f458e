#include <algorithm>

#include "kernels/reference/operations.h"
#include "models/ops/channel_shuffle.h"
#include "models/ops/channel_slice.h"
#include "models/ops/spatial_pad.h"

namespace bench::reference {
namespace {

/// Copies channels of x, starting at `from`, to y, starting at channel `to`.
struct ChannelRange {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t count = 0;
};
void copy_channels(const Tensor& x, const Tensor& y, const ChannelRange& range, const Crew& crew) {
  for_each_plane(x.shape.with(1, range.count), crew, [&](std::int64_t n, std::int64_t c) {
    y.plane(n, range.to + c) = x.plane(n, range.from + c);
  });
}

}  // namespace

Operation concat(const Graph&, const Node&) {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew& crew) {
    std::int64_t begin = 0;
    for (const Tensor& x : in) {
      copy_channels(x, out[0], {.from = 0, .to = begin, .count = x.shape[1]}, crew);
      begin += x.shape[1];
    }
  }};
}

Operation channel_slice(const Graph&, const Node& node) {
  const auto slice = node.attributes.as<ChannelSliceAttributes>();
  return {.compute = [slice](std::span<const Tensor> in, std::span<const Tensor> out,
                             const Crew& crew) {
    copy_channels(in[0], out[0], {.from = slice.begin, .to = 0, .count = slice.count}, crew);
  }};
}

Operation channel_pad(const Graph&, const Node& node) {
  const auto pad = node.attributes.as<ChannelPadAttributes>();
  return {
      .compute = [pad](std::span<const Tensor> in, std::span<const Tensor> out, const Crew& crew) {
        out[0].array().setZero();
        copy_channels(in[0], out[0], {.from = 0, .to = pad.before, .count = in[0].shape[1]}, crew);
      }};
}

Operation channel_shuffle(const Graph&, const Node& node) {
  const std::int64_t groups = node.attributes.as<ChannelShuffleAttributes>().groups;
  return {
      .compute = [groups](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
        const std::int64_t each = in[0].shape[1] / groups;
        for (std::int64_t n = 0; n < in[0].shape[0]; ++n) {
          for (std::int64_t g = 0; g < groups; ++g) {
            for (std::int64_t i = 0; i < each; ++i) {
              out[0].plane(n, i * groups + g) = in[0].plane(n, g * each + i);
            }
          }
        }
      }};
}

Operation channel_scale(const Graph&, const Node&) {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew& crew) {
    for_each_plane(in[0].shape, crew, [&](std::int64_t n, std::int64_t c) {
      out[0].plane(n, c) = in[0].plane(n, c) * in[1].plane(n, c)[0];
    });
  }};
}

Operation channel_scale_backward(const Graph&, const Node&) {
  return {.compute = [](std::span<const Tensor> in, std::span<const Tensor> out, const Crew& crew) {
    for_each_plane(in[0].shape, crew, [&](std::int64_t n, std::int64_t c) {
      out[0].plane(n, c) = (in[0].plane(n, c) * in[1].plane(n, c)).sum();
    });
  }};
}

Operation spatial_pad(const Graph&, const Node& node) {
  const auto before = node.attributes.as<SpatialPadAttributes>().before;
  return {
      .compute = [before](std::span<const Tensor> in, std::span<const Tensor> out, const Crew&) {
        const Shape& x = in[0].shape;
        const Shape& y = out[0].shape;
        for (std::int64_t plane = 0; plane < x[0] * x[1]; ++plane) {
          for (std::int64_t h = 0; h < y[2]; ++h) {
            for (std::int64_t w = 0; w < y[3]; ++w) {
              const std::int64_t from_h = h - before[0];
              const std::int64_t from_w = w - before[1];
              const bool inside = from_h >= 0 && from_h < x[2] && from_w >= 0 && from_w < x[3];
              out[0][(plane * y[2] + h) * y[3] + w] =
                  inside ? in[0][(plane * x[2] + from_h) * x[3] + from_w] : 0;
            }
          }
        }
      }};
}

}  // namespace bench::reference
