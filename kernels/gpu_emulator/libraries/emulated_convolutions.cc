#include "kernels/gpu_emulator/libraries/emulated_convolutions.h"

#include <algorithm>

#include "kernels/gpu_emulator/libraries/emulated_elements.h"
#include "kernels/reference/product.h"
#include "models/base/half.h"

namespace bench::cuda {
namespace {

using Pass = ConvolutionProblem::Pass;
using Extents = std::array<std::int64_t, 4>;

std::int64_t elements(const Extents& extents) {
  return extents[0] * extents[1] * extents[2] * extents[3];
}

const Extents& result_of(const ConvolutionProblem& problem) {
  switch (problem.pass) {
    case Pass::forward:
      return problem.y;
    case Pass::data:
      return problem.x;
    case Pass::filter:
      break;
  }
  return problem.filter;
}

/// A convolution as a product per image and group: filters (rows of C * KH * KW) times patches
/// (columns of H' * W'). All tensors have the order N, C, H, W.
class Patches {
 public:
  explicit Patches(const ConvolutionProblem& problem)
      : problem_(problem),
        rows_(problem.filter[1] * problem.filter[2] * problem.filter[3]),
        columns_(problem.y[2] * problem.y[3]),
        filters_(problem.y[1] / problem.groups),
        patches_(static_cast<std::size_t>(rows_ * columns_)),
        scratch_(static_cast<std::size_t>(
            reference::product_scratch(std::max({rows_, columns_, filters_})))) {}

  /// y of an image and group: filters * patches.
  void forward(const double* x, const double* filter, double* y) {
    gather(x);
    multiply(filters_, rows_, columns_, {filter, rows_, 1}, {patches_.data(), columns_, 1}, y);
  }
  /// Adds filters^T * dy to dx of an image and group, each patch element at its source.
  void data(const double* dy, const double* filter, double* dx) {
    multiply(rows_, filters_, columns_, {filter, 1, rows_}, {dy, columns_, 1}, patches_.data());
    visit([&](std::int64_t in, std::size_t patch) { dx[in] += patches_[patch]; });
  }
  /// Adds to dw of a group: dy * patches^T.
  void filter(const double* dy, const double* x, double* dw) {
    gather(x);
    multiply(filters_, columns_, rows_, {dy, columns_, 1}, {patches_.data(), 1, columns_}, dw,
             true);
  }

  // Elements of one group: of an image's channels, of the filters, of the result's channels.
  [[nodiscard]] std::int64_t x_step() const {
    return problem_.filter[1] * problem_.x[2] * problem_.x[3];
  }
  [[nodiscard]] std::int64_t filter_step() const { return filters_ * rows_; }
  [[nodiscard]] std::int64_t y_step() const { return filters_ * columns_; }

 private:
  void multiply(std::int64_t rows, std::int64_t depth, std::int64_t columns,
                const reference::Factor& a, const reference::Factor& b, double* c,
                bool add = false) {
    reference::multiply({.rows = rows,
                         .depth = depth,
                         .columns = columns,
                         .a = a,
                         .b = b,
                         .c = c,
                         .row_stride = columns,
                         .add = add},
                        scratch_.data());
  }

  void gather(const double* x) {
    std::ranges::fill(patches_, 0.0);
    visit([&](std::int64_t in, std::size_t patch) { patches_[patch] = x[in]; });
  }

  /// Calls act(element of x, element of the patches) for each patch element inside x; the others
  /// are padding.
  template <class Act>
  void visit(const Act& act) const {
    const Window& window = problem_.window;
    const std::int64_t height = problem_.x[2];
    const std::int64_t width = problem_.x[3];
    std::size_t patch = 0;
    for (std::int64_t c = 0; c < problem_.filter[1]; ++c) {
      for (std::int64_t kh = 0; kh < problem_.filter[2]; ++kh) {
        for (std::int64_t kw = 0; kw < problem_.filter[3]; ++kw) {
          for (std::int64_t oh = 0; oh < problem_.y[2]; ++oh) {
            const std::int64_t h =
                oh * window.stride[0] + kh * window.dilation[0] - window.pad_before[0];
            for (std::int64_t ow = 0; ow < problem_.y[3]; ++ow, ++patch) {
              const std::int64_t w =
                  ow * window.stride[1] + kw * window.dilation[1] - window.pad_before[1];
              if (h >= 0 && h < height && w >= 0 && w < width) {
                act((c * height + h) * width + w, patch);
              }
            }
          }
        }
      }
    }
  }

  ConvolutionProblem problem_;
  std::int64_t rows_;
  std::int64_t columns_;
  /// The filters of one group.
  std::int64_t filters_;
  std::vector<double> patches_;
  std::vector<double> scratch_;
};

/// The prologue of x, rounded to the type that tensor cores read.
void apply_prologue(const ConvolutionProblem& problem, const ConvolutionMemory& memory,
                    std::vector<double>& x) {
  const auto [batch, channels, height, width] = problem.x;
  const std::vector<double> scale = read_elements(memory.scale, problem.dtype, channels);
  const std::vector<double> shift = read_elements(memory.shift, problem.dtype, channels);
  const std::int64_t spatial = height * width;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto channel =
        static_cast<std::size_t>(static_cast<std::int64_t>(i) / spatial % channels);
    const double y = x[i] * scale[channel] + shift[channel];
    x[i] = y < 0 ? 0 : widen(narrow_to_float16(y));
  }
}

/// The result in the order N, C, H, W.
std::vector<double> compute(const ConvolutionProblem& problem, const ConvolutionMemory& memory) {
  const auto read = [&](const void* from, const Extents& extents) {
    return read_tensor(from, problem.dtype, extents, problem.order);
  };
  const bool forward = problem.pass == Pass::forward;
  std::vector<double> first = read(memory.first, forward ? problem.x : problem.y);
  std::vector<double> second =
      read(memory.second, problem.pass == Pass::filter ? problem.x : problem.filter);
  if (problem.prologue) {
    apply_prologue(problem, memory, forward ? first : second);
  }
  std::vector<double> result(static_cast<std::size_t>(elements(result_of(problem))));
  Patches patches(problem);
  for (std::int64_t image = 0; image < problem.x[0]; ++image) {
    for (std::int64_t group = 0; group < problem.groups; ++group) {
      const std::int64_t part = image * problem.groups + group;
      const std::int64_t x = part * patches.x_step();
      const std::int64_t y = part * patches.y_step();
      const std::int64_t filter = group * patches.filter_step();
      switch (problem.pass) {
        case Pass::forward:
          patches.forward(first.data() + x, second.data() + filter, result.data() + y);
          break;
        case Pass::data:
          patches.data(first.data() + y, second.data() + filter, result.data() + x);
          break;
        case Pass::filter:
          patches.filter(first.data() + y, second.data() + x, result.data() + filter);
          break;
      }
    }
  }
  return result;
}

/// Applies the epilogue to y as cuDNN's engines do, for their kinds of activations.
void finish(const ConvolutionProblem& problem, const ConvolutionMemory& memory,
            std::vector<double>& y) {
  const auto [batch, channels, height, width] = problem.y;
  const std::vector<double> bias = read_elements(memory.bias, problem.dtype, channels);
  const std::vector<double> residual =
      problem.epilogue.residual
          ? read_tensor(memory.residual, problem.dtype, problem.y, problem.order)
          : std::vector<double>(y.size());
  const std::int64_t spatial = height * width;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto channel = static_cast<std::int64_t>(i) / spatial % channels;
    const double sum = y[i] + residual[i] + bias[static_cast<std::size_t>(channel)];
    y[i] = problem.epilogue.activation == ActivationKind::relu && sum < 0 ? 0 : sum;
  }
}

/// Writes N, C, H, W values in the order of the launch's tensors, in f32.
void put_sums(const std::vector<double>& values, const Extents& extents, Order order,
              std::span<float> sums) {
  const auto [batch, channels, height, width] = extents;
  const std::int64_t spatial = height * width;
  for (std::int64_t n = 0; n < batch; ++n) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t i = 0; i < spatial; ++i) {
        const std::int64_t from = (n * channels + c) * spatial + i;
        const std::int64_t to = order == Order::nchw ? from : (n * spatial + i) * channels + c;
        sums[static_cast<std::size_t>(to)] =
            static_cast<float>(values[static_cast<std::size_t>(from)]);
      }
    }
  }
}

/// Sums per channel, and of squares, of results in N, C, H, W. As in the engines, sums are in f32,
/// one tile of pixels after another, over results that are not rounded yet.
void sum_channels(const std::vector<double>& y, const Extents& extents,
                  const ConvolutionMemory& memory) {
  constexpr std::int64_t kTile = 128;
  const auto [batch, channels, height, width] = extents;
  const std::int64_t spatial = height * width;
  for (std::int64_t c = 0; c < channels; ++c) {
    float sum = 0;
    float squares = 0;
    for (std::int64_t first = 0; first < batch * spatial; first += kTile) {
      float of_tile = 0;
      float squares_of_tile = 0;
      for (std::int64_t i = first; i < std::min(first + kTile, batch * spatial); ++i) {
        const std::int64_t at = (i / spatial * channels + c) * spatial + i % spatial;
        const auto value = static_cast<float>(y[static_cast<std::size_t>(at)]);
        of_tile += value;
        squares_of_tile += value * value;
      }
      sum += of_tile;
      squares += squares_of_tile;
    }
    memory.sums[c] = sum;
    memory.squares[c] = squares;
  }
}

class EmulatedPlan final : public ConvolutionPlan {
 public:
  explicit EmulatedPlan(const ConvolutionProblem& problem) : problem_(problem) {}

  void launch(cudaStream_t stream, const ConvolutionMemory& memory) override {
    emulator::enqueue(stream, "convolution", [problem = problem_, memory] {
      const Extents& extents = result_of(problem);
      const EmulatedWorkspace workspace(memory.workspace, elements(extents));
      std::vector<double> result = compute(problem, memory);
      if (!problem.epilogue.empty()) {
        finish(problem, memory, result);
      }
      if (problem.statistics) {
        sum_channels(result, extents, memory);
      }
      put_sums(result, extents, problem.order, workspace.sums());
      write_elements(workspace.sums(), problem.dtype, memory.result);
    });
  }

 private:
  ConvolutionProblem problem_;
};

class EmulatedConvolutions final : public Convolutions {
 public:
  std::vector<ConvolutionChoice> choices(const ConvolutionProblem& problem) override {
    if (!in_one_graph(problem)) {
      return {};
    }
    return {{.implementation = "emulated",
             .workspace_bytes = EmulatedWorkspace::bytes(elements(result_of(problem))),
             .make = [problem] { return std::make_unique<EmulatedPlan>(problem); }}};
  }
  [[nodiscard]] std::string version() const override { return "emulated"; }
};

}  // namespace

std::unique_ptr<Convolutions> make_emulated_convolutions() {
  return std::make_unique<EmulatedConvolutions>();
}

}  // namespace bench::cuda
