#include "models/zoo/builder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/base/errors.h"
#include "models/base/philox.h"
#include "models/ir/op.h"
#include "models/ops/add.h"
#include "models/ops/batch_norm.h"
#include "models/ops/bias_add.h"
#include "models/ops/channel_scale.h"
#include "models/ops/channel_shuffle.h"
#include "models/ops/channel_slice.h"
#include "models/ops/concat.h"
#include "models/ops/ctc_loss.h"
#include "models/ops/drop_path.h"
#include "models/ops/dropout.h"
#include "models/ops/embedding.h"
#include "models/ops/flatten.h"
#include "models/ops/fully_connected.h"
#include "models/ops/moving_average.h"
#include "models/ops/multibox_loss.h"
#include "models/ops/multiply.h"
#include "models/ops/pool.h"
#include "models/ops/reshape.h"
#include "models/ops/spatial_mean.h"
#include "models/ops/swap_axes.h"

namespace bench {
namespace {

// A normal distribution cut at two deviations has this deviation.
constexpr double kTruncatedDeviation = 0.87962566103423978;

constexpr const char* kStepInput = "step";

DType statistics_dtype(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

}  // namespace

Window make_window(const WindowSpec& spec, const Shape& input) {
  Window window{.kernel = spec.kernel.array(), .stride = spec.stride.array()};
  for (const std::size_t axis : {0U, 1U}) {
    const std::int64_t in = input[2 + axis];
    const std::int64_t kernel = window.kernel.at(axis);
    const std::int64_t stride = window.stride.at(axis);
    std::int64_t before = spec.pad.array().at(axis);
    std::int64_t after = before;
    if (spec.padding == Padding::same_resnet && stride > 1) {
      before = (kernel - 1) / 2;
      after = kernel - 1 - before;
    } else if (spec.padding == Padding::same || spec.padding == Padding::same_resnet) {
      const std::int64_t out = (in + stride - 1) / stride;
      const std::int64_t total = std::max<std::int64_t>((out - 1) * stride + kernel - in, 0);
      before = total / 2;
      after = total - before;
    } else if (spec.padding == Padding::ceiling) {
      const std::int64_t rest = (in + 2 * before - kernel) % stride;
      // The last window must begin within the input or the padding before it.
      const std::int64_t begin = in + 2 * before - kernel - rest + stride;
      if (rest > 0 && begin < in + before) {
        after += stride - rest;
      }
    }
    window.pad_before.at(axis) = before;
    window.pad_after.at(axis) = after;
  }
  return window;
}

Initializer variance_scaling(const Fans& fans) {
  return {.kind = Initializer::Kind::truncated_normal,
          .stddev = std::sqrt(1 / fans.in) / kTruncatedDeviation};
}

WeightInit cut_normal(double gain) {
  return [gain](const Fans& fans) {
    return Initializer{.kind = Initializer::Kind::truncated_normal,
                       .stddev = std::sqrt(gain / fans.in)};
  };
}

WeightInit cut_normal_of(double stddev) {
  return [stddev](const Fans&) {
    return Initializer{.kind = Initializer::Kind::truncated_normal, .stddev = stddev};
  };
}

ValueId NetworkBuilder::conv(const std::string& path, ValueId x, const ConvSpec& spec) {
  const Window window = make_window(spec.window, graph_.shape(x));
  const Shape weights{spec.channels, channels(x) / spec.groups, window.kernel[0], window.kernel[1]};
  const auto taps = static_cast<double>(window.kernel[0] * window.kernel[1]);
  const Fans fans{.in = static_cast<double>(weights[1]) * taps,
                  .out = static_cast<double>(weights[0]) * taps};
  const DType dtype = graph_.type(x).dtype;
  const ValueId w = graph_.add_variable(path + ".weight", {.dtype = dtype, .shape = weights},
                                        VariableRole::weight, spec.initial(fans));
  const Conv2dAttributes attributes{.window = window, .groups = spec.groups};
  const ValueId y = graph_.add_node(kConv2d, path, attributes, {x, w})[0];
  if (!spec.bias) {
    return y;
  }
  const ValueId bias =
      graph_.add_variable(path + ".bias", {.dtype = dtype, .shape = {spec.channels}}, bias_role(),
                          {.mean = spec.bias_value});
  return graph_.add_node(kBiasAdd, path + "/bias", {}, {y, bias})[0];
}

ValueId NetworkBuilder::batch_norm(const std::string& path, ValueId x, const BatchNormSpec& spec) {
  const TensorType vector{.dtype = statistics_dtype(graph_.type(x).dtype), .shape = {channels(x)}};
  const Initializer one{.kind = Initializer::Kind::constant, .mean = 1};
  std::vector<ValueId> inputs{x};
  if (spec.scale) {
    inputs.push_back(graph_.add_variable(path + ".weight", vector, VariableRole::scale, one));
  }
  inputs.push_back(graph_.add_variable(path + ".bias", vector, VariableRole::shift));
  const ValueId mean = graph_.add_variable(path + ".running_mean", vector, VariableRole::mean);
  const ValueId variance =
      graph_.add_variable(path + ".running_var", vector, VariableRole::variance, one);
  const BatchNormAttributes attributes{.epsilon = spec.epsilon, .scale = spec.scale};
  if (!options_.training) {
    inputs.push_back(mean);
    inputs.push_back(variance);
    return graph_.add_node(kBatchNormInference, path, attributes, std::move(inputs))[0];
  }
  const auto outputs = graph_.add_node(kBatchNorm, path, attributes, std::move(inputs));
  const Shape& shape = graph_.shape(x);
  const auto n = static_cast<double>(shape[0] * shape[2] * shape[3]);
  const auto update = [&](ValueId running, ValueId batch, double factor, const char* leaf) {
    const MovingAverageAttributes average{{{.decay = spec.decay, .factor = factor}}};
    graph_.add_update(running,
                      graph_.add_node(kMovingAverage, path + leaf, average, {running, batch})[0]);
  };
  update(mean, outputs[1], 1, "/running_mean");
  update(variance, outputs[2], n > 1 ? n / (n - 1) : 1, "/running_var");
  return outputs[0];
}

ValueId NetworkBuilder::activation(const std::string& name, ValueId x, ActivationKind kind) {
  return graph_.add_node(kActivation, name, ActivationAttributes{kind}, {x})[0];
}

ValueId NetworkBuilder::add(const std::string& name, ValueId a, ValueId b) {
  return graph_.add_node(kAdd, name, {}, {a, b})[0];
}

ValueId NetworkBuilder::multiply(const std::string& name, ValueId a, ValueId b) {
  return graph_.add_node(kMultiply, name, {}, {a, b})[0];
}

ValueId NetworkBuilder::max_pool(const std::string& name, ValueId x, const WindowSpec& spec) {
  const PoolAttributes attributes{.window = make_window(spec, graph_.shape(x)),
                                  .input = graph_.shape(x)};
  return graph_.add_node(kMaxPool, name, attributes, {x})[0];
}

ValueId NetworkBuilder::avg_pool(const std::string& name, ValueId x, const WindowSpec& spec) {
  const PoolAttributes attributes{.window = make_window(spec, graph_.shape(x)),
                                  .input = graph_.shape(x)};
  return graph_.add_node(kAvgPool, name, attributes, {x})[0];
}

ValueId NetworkBuilder::global_avg_pool(const std::string& name, ValueId x) {
  const Shape& shape = graph_.shape(x);
  return avg_pool(name, x, {.kernel = {shape[2], shape[3]}, .padding = Padding::valid});
}

ValueId NetworkBuilder::spatial_mean(const std::string& name, ValueId x) {
  return graph_.add_node(kSpatialMean, name, {}, {x})[0];
}

ValueId NetworkBuilder::flatten(const std::string& name, ValueId x) {
  return graph_.add_node(kFlatten, name, {}, {x})[0];
}

ValueId NetworkBuilder::concat(const std::string& name, std::span<const ValueId> parts) {
  return graph_.add_node(kConcat, name, {}, {parts.begin(), parts.end()})[0];
}

ValueId NetworkBuilder::channel_slice(const std::string& name, ValueId x, std::int64_t begin,
                                      std::int64_t count) {
  return graph_.add_node(kChannelSlice, name,
                         ChannelSliceAttributes{.begin = begin, .count = count}, {x})[0];
}

ValueId NetworkBuilder::channel_pad(const std::string& name, ValueId x, std::int64_t before,
                                    std::int64_t after) {
  return graph_.add_node(kChannelPad, name, ChannelPadAttributes{.before = before, .after = after},
                         {x})[0];
}

ValueId NetworkBuilder::channel_shuffle(const std::string& name, ValueId x, std::int64_t groups) {
  return graph_.add_node(kChannelShuffle, name, ChannelShuffleAttributes{.groups = groups}, {x})[0];
}

ValueId NetworkBuilder::channel_scale(const std::string& name, ValueId x, ValueId s) {
  return graph_.add_node(kChannelScale, name, {}, {x, s})[0];
}

ValueId NetworkBuilder::spatial_pad(const std::string& name, ValueId x,
                                    const SpatialPadAttributes& pads) {
  return graph_.add_node(kSpatialPad, name, pads, {x})[0];
}

ValueId NetworkBuilder::lrn(const std::string& name, ValueId x, const LrnAttributes& attributes) {
  return graph_.add_node(kLrn, name, attributes, {x})[0];
}

ValueId NetworkBuilder::dropout(const std::string& name, ValueId x, double keep) {
  if (!options_.training) {
    return x;
  }
  const auto elements = static_cast<std::uint64_t>(shape(x).elements());
  const auto images = static_cast<std::uint64_t>(shape(x)[0]);
  const DropoutAttributes attributes{
      .keep = keep,
      .seed = options_.seed,
      .stream = hash_name(name),
      .first_element = static_cast<std::uint64_t>(options_.first_image) * (elements / images)};
  return graph_.add_node(kDropout, name, attributes, {x, step()})[0];
}

ValueId NetworkBuilder::drop_path(const std::string& name, ValueId x, double keep,
                                  std::int64_t ramp_steps) {
  if (!options_.training || keep >= 1) {
    return x;
  }
  const DropPathAttributes attributes{
      .keep = keep,
      .ramp_steps = ramp_steps,
      .seed = options_.seed,
      .stream = hash_name(name),
      .first_example = static_cast<std::uint64_t>(options_.first_image)};
  return graph_.add_node(kDropPath, name, attributes, {x, step()})[0];
}

ValueId NetworkBuilder::fully_connected(const std::string& path, ValueId x,
                                        const FullyConnectedSpec& spec) {
  const DType dtype = graph_.type(x).dtype;
  const std::int64_t inputs = channels(x);
  const Fans fans{.in = static_cast<double>(inputs), .out = static_cast<double>(spec.outputs)};
  const ValueId w =
      graph_.add_variable(path + ".weight", {.dtype = dtype, .shape = {spec.outputs, inputs}},
                          VariableRole::weight, spec.initial(fans));
  const Initializer bias_initial =
      spec.bias_initial ? spec.bias_initial(fans) : Initializer{.mean = spec.bias_value};
  const ValueId bias = graph_.add_variable(
      path + ".bias", {.dtype = dtype, .shape = {spec.outputs}}, bias_role(), bias_initial);
  const ValueId y = graph_.add_node(kFullyConnected, path, FullyConnectedAttributes{}, {x, w})[0];
  return graph_.add_node(kBiasAdd, path + "/bias", {}, {y, bias})[0];
}

ValueId NetworkBuilder::embedding(const std::string& path, ValueId ids, const EmbeddingSpec& spec) {
  const ValueId table = graph_.add_variable(
      path + ".weight", {.dtype = options_.dtype, .shape = {spec.rows, spec.columns}},
      VariableRole::weight, spec.initial);
  return graph_.add_node(kEmbedding, path, {}, {table, ids})[0];
}

ValueId NetworkBuilder::rnn(const std::string& path, ValueId x, const RnnSpec& spec) {
  check(!spec.attributes.lengths, "a builder's sequences have equal lengths");
  const DType dtype = graph_.type(x).dtype;
  const std::int64_t inputs = shape(x)[2];
  const std::int64_t gates = gates_of(spec.attributes.cell);
  const auto weight = [&](const char* leaf, std::int64_t columns) {
    return graph_.add_variable(
        path + leaf, {.dtype = dtype, .shape = {spec.directions, gates, spec.units, columns}},
        VariableRole::weight, spec.initial);
  };
  const auto bias = [&](const char* leaf) {
    return graph_.add_variable(path + leaf,
                               {.dtype = dtype, .shape = {spec.directions * gates * spec.units}},
                               bias_role());
  };
  std::vector<ValueId> read{x, weight(".weight_ih", inputs), weight(".weight_hh", spec.units),
                            bias(".bias_ih")};
  if (spec.attributes.hidden_bias) {
    read.push_back(bias(".bias_hh"));
  }
  return graph_.add_node(kRnn, path, spec.attributes, std::move(read))[0];
}

ValueId NetworkBuilder::swap_axes(const std::string& name, ValueId x, std::size_t first) {
  return graph_.add_node(kSwapAxes, name, SwapAxesAttributes{first}, {x})[0];
}

ValueId NetworkBuilder::reshape(const std::string& name, ValueId x, const Shape& shape) {
  return graph_.add_node(kReshape, name, ReshapeAttributes{shape}, {x})[0];
}

ValueId NetworkBuilder::ctc_loss(const std::string& name, const CtcInputs& inputs) {
  return graph_.add_node(kCtcLoss, name, {},
                         {inputs.logits, inputs.labels, inputs.label_counts, inputs.frames})[0];
}

ValueId NetworkBuilder::multibox_loss(const std::string& name, const MultiboxInputs& inputs) {
  return graph_.add_node(kMultiboxLoss, name, {},
                         {inputs.offsets, inputs.scores, inputs.target_offsets, inputs.classes})[0];
}

VariableRole NetworkBuilder::bias_role() const {
  return options_.biases_decay ? VariableRole::bias : VariableRole::undecayed_bias;
}

ValueId NetworkBuilder::step() {
  const auto inputs = graph_.inputs();
  const auto found = std::find_if(inputs.begin(), inputs.end(),
                                  [&](ValueId id) { return graph_.value(id).name == kStepInput; });
  return found != inputs.end() ? *found
                               : graph_.add_input(kStepInput, {.dtype = DType::s32, .shape = {}});
}

}  // namespace bench
