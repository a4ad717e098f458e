#include "models/ops/conv2d.h"

#include <algorithm>

#include "kernels/reference/operations.h"
#include "kernels/reference/product.h"

namespace bench::reference {
namespace {

/// Doubles that one thread gathers at a time: as many as fit in its cache.
constexpr std::int64_t kGathered = std::int64_t{1} << 17;

/// Some rows of a row-major matrix.
struct Rows {
  double* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  /// From one row to the next.
  std::int64_t stride = 0;

  [[nodiscard]] Factor factor() const {
    return {.data = data, .row_stride = stride, .column_stride = 1};
  }
  [[nodiscard]] Factor transposed() const {
    return {.data = data, .row_stride = 1, .column_stride = stride};
  }
};

/// c = a * b.
void multiply_into(const Rows& c, const Factor& a, const Rows& b, double* scratch) {
  multiply({.rows = c.rows,
            .depth = b.rows,
            .columns = c.columns,
            .a = a,
            .b = b.factor(),
            .c = c.data,
            .row_stride = c.stride},
           scratch);
}

/// Numbers begin..end-1.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t count() const { return end - begin; }
};

/// Part `part` of 0..count-1; each has `length` numbers, the last one the remainder.
Range range(std::int64_t part, std::int64_t length, std::int64_t count) {
  return {.begin = part * length, .end = std::min(count, (part + 1) * length)};
}
std::int64_t ranges(std::int64_t length, std::int64_t count) {
  return (count + length - 1) / length;
}

/// A part of a convolution: some input channels of a group, at some rows of the output of an image.
struct Place {
  std::int64_t image = 0;
  std::int64_t group = 0;
  Range channels = {};
  Range rows = {};
};

/// A convolution as one matrix product per image and group: filters (rows of C*KH*KW) times patches
/// (columns of H'*W'). Patch column o holds the input elements under the window at output o.
struct Convolution {
  Window window;
  std::int64_t groups = 1;
  Shape x;
  Shape w;
  Shape y;

  [[nodiscard]] std::int64_t filters() const { return w[0] / groups; }
  [[nodiscard]] std::int64_t channels() const { return w[1]; }
  [[nodiscard]] std::int64_t taps() const { return w[2] * w[3]; }
  [[nodiscard]] std::int64_t height() const { return y[2]; }
  [[nodiscard]] std::int64_t width() const { return y[3]; }

  /// The number of output rows for which the patches of some channels stay in a cache.
  [[nodiscard]] std::int64_t rows_at_once(std::int64_t of_channels) const {
    return std::clamp<std::int64_t>(kGathered / (of_channels * taps() * width()), 1, height());
  }
  /// The number of channels that gives the matrix product a good number of rows.
  [[nodiscard]] std::int64_t channels_at_once() const {
    constexpr std::int64_t kPatchRows = 64;
    return std::clamp<std::int64_t>(kPatchRows / taps(), 1, channels());
  }
  [[nodiscard]] std::int64_t patch_elements(std::int64_t of_channels) const {
    return of_channels * taps() * rows_at_once(of_channels) * width();
  }

  /// Returns true if the patches are the input itself.
  [[nodiscard]] bool pointwise() const {
    return taps() == 1 && window.stride[0] == 1 && window.stride[1] == 1 &&
           window.pad_before[0] == 0 && window.pad_before[1] == 0 && x[2] == y[2] && x[3] == y[3];
  }
  /// The patches' memory: in `scratch`, or in the input if they are the same.
  [[nodiscard]] Rows patches(const Tensor& input, const Place& place, double* scratch) const {
    const std::int64_t columns = place.rows.count() * width();
    if (pointwise()) {
      return {input.plane(place.image, group_channel(place)).data() + place.rows.begin * width(),
              place.channels.count(), columns, height() * width()};
    }
    return {scratch, place.channels.count() * taps(), columns, columns};
  }
  /// The filters of one group, for some channels, from the weights or their gradient.
  [[nodiscard]] Rows filters_of(const Tensor& weights, const Place& place) const {
    const std::int64_t row = channels() * taps();
    return {weights.data + place.group * filters() * row + place.channels.begin * taps(), filters(),
            place.channels.count() * taps(), row};
  }
  /// One group's channels of one image, for some rows, from the output or its gradient.
  [[nodiscard]] Rows output_of(const Tensor& output, const Place& place) const {
    return {output.plane(place.image, place.group * filters()).data() + place.rows.begin * width(),
            filters(), place.rows.count() * width(), height() * width()};
  }

  /// Gathers the patches; padding is zeros.
  [[nodiscard]] Rows gather(const Tensor& input, const Place& place, double* scratch) const {
    const Rows all = patches(input, place, scratch);
    if (!pointwise()) {
      for_each_line(input, place, all, [&](const Line& line) {
        std::fill(line.patch, line.patch + line.inside.begin, 0.0);
        for (std::int64_t i = line.inside.begin; i < line.inside.end; ++i) {
          line.patch[i] = line.input[line.left + i * window.stride[1]];
        }
        std::fill(line.patch + line.inside.end, line.patch + width(), 0.0);
      });
    }
    return all;
  }
  /// Adds the patches to the elements that they would be gathered from.
  void scatter_add(const Rows& all, const Tensor& input, const Place& place) const {
    for_each_line(input, place, all, [&](const Line& line) {
      for (std::int64_t i = line.inside.begin; i < line.inside.end; ++i) {
        line.input[line.left + i * window.stride[1]] += line.patch[i];
      }
    });
  }

 private:
  [[nodiscard]] std::int64_t group_channel(const Place& place) const {
    return place.group * channels() + place.channels.begin;
  }

  /// A row of the output under one tap. patch[i] belongs to input[left + i * stride] if i is
  /// inside; the others are in the padding.
  struct Line {
    double* patch = nullptr;
    double* input = nullptr;
    std::int64_t left = 0;
    Range inside = {};
  };

  /// The range of i for which input[left + i * stride] exists.
  [[nodiscard]] Range inside(std::int64_t left) const {
    const std::int64_t stride = window.stride[1];
    const std::int64_t begin = left < 0 ? (stride - 1 - left) / stride : 0;
    const std::int64_t end = x[3] > left ? (x[3] - left + stride - 1) / stride : 0;
    return {.begin = std::min(begin, width()),
            .end = std::clamp(end, std::min(begin, width()), width())};
  }

  /// Calls visit(line) for each channel, tap and row of the output.
  template <class Visit>
  void for_each_line(const Tensor& input, const Place& place, const Rows& all,
                     const Visit& visit) const {
    for (std::int64_t c = 0; c < place.channels.count(); ++c) {
      double* const plane = input.plane(place.image, group_channel(place) + c).data();
      for (std::int64_t tap = 0; tap < taps(); ++tap) {
        double* patch = all.data + (c * taps() + tap) * all.stride;
        const std::int64_t left = tap % w[3] * window.dilation[1] - window.pad_before[1];
        const Range columns = inside(left);
        for (std::int64_t row = place.rows.begin; row < place.rows.end; ++row) {
          const std::int64_t h =
              row * window.stride[0] + tap / w[3] * window.dilation[0] - window.pad_before[0];
          const bool exists = h >= 0 && h < x[2];
          visit(Line{.patch = patch,
                     .input = plane + (exists ? h * x[3] : 0),
                     .left = left,
                     .inside = exists ? columns : Range{}});
          patch += width();
        }
      }
    }
  }
};

}  // namespace

Operation conv2d(const Graph& graph, const Node& node) {
  const auto& attributes = node.attributes.as<Conv2dAttributes>();
  const Convolution conv{.window = attributes.window,
                         .groups = attributes.groups,
                         .x = graph.shape(node.inputs[0]),
                         .w = graph.shape(node.inputs[1]),
                         .y = graph.shape(node.outputs[0])};
  const std::int64_t patch_elements = conv.patch_elements(conv.channels());
  return {
      .compute =
          [conv, patch_elements](std::span<const Tensor> in, std::span<const Tensor> out,
                                 const Crew& crew) {
            const std::int64_t rows = conv.rows_at_once(conv.channels());
            const std::int64_t parts = ranges(rows, conv.height());
            crew.for_each(conv.x[0] * conv.groups * parts, [&](std::int64_t i, double* scratch) {
              const Place place{.image = i / parts / conv.groups,
                                .group = i / parts % conv.groups,
                                .channels = {.begin = 0, .end = conv.channels()},
                                .rows = range(i % parts, rows, conv.height())};
              const Rows patches = conv.gather(in[0], place, scratch);
              multiply_into(conv.output_of(out[0], place), conv.filters_of(in[1], place).factor(),
                            patches, scratch + patch_elements);
            });
          },
      .scratch_elements = patch_elements + product_scratch(conv.channels() * conv.taps())};
}

Operation conv2d_backward_data(const Graph& graph, const Node& node) {
  const auto& attributes = node.attributes.as<Conv2dBackwardDataAttributes>();
  const Convolution conv{.window = attributes.window,
                         .groups = attributes.groups,
                         .x = graph.shape(node.outputs[0]),
                         .w = graph.shape(node.inputs[1]),
                         .y = graph.shape(node.inputs[0])};
  const std::int64_t channels = conv.channels_at_once();
  const std::int64_t patch_elements = conv.patch_elements(channels);
  return {.compute =
              [conv, channels, patch_elements](std::span<const Tensor> in,
                                               std::span<const Tensor> out, const Crew& crew) {
                const std::int64_t rows = conv.rows_at_once(channels);
                const std::int64_t parts = ranges(channels, conv.channels());
                out[0].array().setZero();
                crew.for_each(
                    conv.x[0] * conv.groups * parts, [&](std::int64_t i, double* scratch) {
                      Place place{.image = i / parts / conv.groups,
                                  .group = i / parts % conv.groups,
                                  .channels = range(i % parts, channels, conv.channels())};
                      for (std::int64_t r = 0; r < ranges(rows, conv.height()); ++r) {
                        place.rows = range(r, rows, conv.height());
                        const Rows patches = conv.patches(out[0], place, scratch);
                        multiply_into(patches, conv.filters_of(in[1], place).transposed(),
                                      conv.output_of(in[0], place), scratch + patch_elements);
                        if (!conv.pointwise()) {
                          conv.scatter_add(patches, out[0], place);
                        }
                      }
                    });
              },
          .scratch_elements = patch_elements + product_scratch(conv.filters())};
}

Operation conv2d_backward_weights(const Graph& graph, const Node& node) {
  const auto& attributes = node.attributes.as<Conv2dBackwardWeightsAttributes>();
  const Convolution conv{.window = attributes.window,
                         .groups = attributes.groups,
                         .x = graph.shape(node.inputs[1]),
                         .w = attributes.weights,
                         .y = graph.shape(node.inputs[0])};
  const std::int64_t channels = conv.channels_at_once();
  const std::int64_t patch_elements = conv.patch_elements(channels);
  return {.compute =
              [conv, channels, patch_elements](std::span<const Tensor> in,
                                               std::span<const Tensor> out, const Crew& crew) {
                const std::int64_t rows = conv.rows_at_once(channels);
                const std::int64_t parts = ranges(channels, conv.channels());
                out[0].array().setZero();
                crew.for_each(conv.groups * parts, [&](std::int64_t i, double* scratch) {
                  Place place{.group = i / parts,
                              .channels = range(i % parts, channels, conv.channels())};
                  for (place.image = 0; place.image < conv.x[0]; ++place.image) {
                    for (std::int64_t r = 0; r < ranges(rows, conv.height()); ++r) {
                      place.rows = range(r, rows, conv.height());
                      const Rows patches = conv.gather(in[1], place, scratch);
                      const Rows dw = conv.filters_of(out[0], place);
                      multiply({.rows = dw.rows,
                                .depth = patches.columns,
                                .columns = patches.rows,
                                .a = conv.output_of(in[0], place).factor(),
                                .b = patches.transposed(),
                                .c = dw.data,
                                .row_stride = dw.stride,
                                .add = true},
                               scratch + patch_elements);
                    }
                  }
                });
              },
          .scratch_elements =
              patch_elements + product_scratch(conv.rows_at_once(channels) * conv.width())};
}

}  // namespace bench::reference
