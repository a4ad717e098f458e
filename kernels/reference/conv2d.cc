#include "models/ops/conv2d.h"

#include "kernels/reference/operations.h"
#include "kernels/reference/window.h"

namespace bench::reference {
namespace {

/// A convolution as one matrix product per image and group: filters (rows of C*KH*KW) times patches
/// (columns of H'*W'), where patch column o holds the input elements under the window at output o.
struct Convolution {
  Window window;
  std::int64_t groups = 1;
  Shape x;
  Shape w;
  Shape y;

  [[nodiscard]] std::int64_t filters() const { return w[0] / groups; }
  [[nodiscard]] std::int64_t taps() const { return w[2] * w[3]; }
  [[nodiscard]] std::int64_t patch_rows() const { return w[1] * taps(); }
  [[nodiscard]] std::int64_t patch_columns() const { return y[2] * y[3]; }
  [[nodiscard]] std::int64_t patch_elements() const { return patch_rows() * patch_columns(); }

  [[nodiscard]] Matrix patches(double* scratch) const {
    return {scratch, patch_rows(), patch_columns()};
  }
  /// The filters of one group, of the weights or of their gradient.
  [[nodiscard]] Matrix filters_of(const Tensor& weights, std::int64_t group) const {
    return {weights.data + group * filters() * patch_rows(), filters(), patch_rows()};
  }
  /// One group's channels of one image, of the output or of its gradient.
  [[nodiscard]] Matrix output_of(const Tensor& output, std::int64_t n, std::int64_t group) const {
    return {output.plane(n, group * filters()).data(), filters(), patch_columns()};
  }

  /// Fills the patches from the input; zeros stand for the padding.
  void gather(const Tensor& input, std::int64_t n, std::int64_t group, Matrix patches) const {
    for (std::int64_t c = 0; c < w[1]; ++c) {
      const Array plane = input.plane(n, group * w[1] + c);
      slide(window, plane_of(x), plane_of(y),
            [&](std::int64_t output, std::int64_t tap, std::int64_t position) {
              patches(c * taps() + tap, output) = position < 0 ? 0 : plane[position];
            });
    }
  }
  /// Adds the patches to the elements that they were gathered from.
  void scatter_add(const Matrix& patches, const Tensor& input, std::int64_t n,
                   std::int64_t group) const {
    for (std::int64_t c = 0; c < w[1]; ++c) {
      Array plane = input.plane(n, group * w[1] + c);
      slide(window, plane_of(x), plane_of(y),
            [&](std::int64_t output, std::int64_t tap, std::int64_t position) {
              if (position >= 0) {
                plane[position] += patches(c * taps() + tap, output);
              }
            });
    }
  }

  template <class Visit>
  void for_each_image_and_group(Visit visit) const {
    for (std::int64_t n = 0; n < x[0]; ++n) {
      for (std::int64_t group = 0; group < groups; ++group) {
        visit(n, group);
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
  return {.compute =
              [conv](std::span<const Tensor> in, std::span<const Tensor> out, double* scratch) {
                const Matrix patches = conv.patches(scratch);
                conv.for_each_image_and_group([&](std::int64_t n, std::int64_t group) {
                  conv.gather(in[0], n, group, patches);
                  conv.output_of(out[0], n, group).noalias() =
                      conv.filters_of(in[1], group) * patches;
                });
              },
          .scratch_elements = conv.patch_elements()};
}

Operation conv2d_backward_data(const Graph& graph, const Node& node) {
  const auto& attributes = node.attributes.as<Conv2dBackwardDataAttributes>();
  const Convolution conv{.window = attributes.window,
                         .groups = attributes.groups,
                         .x = graph.shape(node.outputs[0]),
                         .w = graph.shape(node.inputs[1]),
                         .y = graph.shape(node.inputs[0])};
  return {.compute =
              [conv](std::span<const Tensor> in, std::span<const Tensor> out, double* scratch) {
                Matrix patches = conv.patches(scratch);
                out[0].array().setZero();
                conv.for_each_image_and_group([&](std::int64_t n, std::int64_t group) {
                  patches.noalias() =
                      conv.filters_of(in[1], group).transpose() * conv.output_of(in[0], n, group);
                  conv.scatter_add(patches, out[0], n, group);
                });
              },
          .scratch_elements = conv.patch_elements()};
}

Operation conv2d_backward_weights(const Graph& graph, const Node& node) {
  const auto& attributes = node.attributes.as<Conv2dBackwardWeightsAttributes>();
  const Convolution conv{.window = attributes.window,
                         .groups = attributes.groups,
                         .x = graph.shape(node.inputs[1]),
                         .w = attributes.weights,
                         .y = graph.shape(node.inputs[0])};
  return {.compute =
              [conv](std::span<const Tensor> in, std::span<const Tensor> out, double* scratch) {
                const Matrix patches = conv.patches(scratch);
                out[0].array().setZero();
                conv.for_each_image_and_group([&](std::int64_t n, std::int64_t group) {
                  conv.gather(in[1], n, group, patches);
                  conv.filters_of(out[0], group).noalias() +=
                      conv.output_of(in[0], n, group) * patches.transpose();
                });
              },
          .scratch_elements = conv.patch_elements()};
}

}  // namespace bench::reference
