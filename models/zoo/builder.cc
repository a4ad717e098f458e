#include "models/zoo/builder.h"

#include <algorithm>
#include <cmath>

#include "models/base/philox.h"
#include "models/ir/op.h"
#include "models/ops/activation.h"
#include "models/ops/add.h"
#include "models/ops/batch_norm.h"
#include "models/ops/bias_add.h"
#include "models/ops/dropout.h"
#include "models/ops/flatten.h"
#include "models/ops/fully_connected.h"
#include "models/ops/moving_average.h"
#include "models/ops/pool.h"
#include "models/ops/spatial_mean.h"

namespace bench {
namespace {

// A normal distribution cut at two deviations has this deviation.
constexpr double kTruncatedDeviation = 0.87962566103423978;

constexpr const char* kStepInput = "step";

}  // namespace

Window make_window(const WindowSpec& spec, const Shape& input) {
  Window window{.kernel = {spec.kernel, spec.kernel}, .stride = {spec.stride, spec.stride}};
  for (const std::size_t axis : {0U, 1U}) {
    const std::int64_t in = input[2 + axis];
    std::int64_t total = 0;
    if (spec.padding == Padding::same_resnet && spec.stride > 1) {
      total = spec.kernel - 1;
    } else if (spec.padding != Padding::valid) {
      const std::int64_t out = (in + spec.stride - 1) / spec.stride;
      total = std::max<std::int64_t>((out - 1) * spec.stride + spec.kernel - in, 0);
    }
    window.pad_before[axis] = total / 2;
    window.pad_after[axis] = total - total / 2;
  }
  return window;
}

ValueId NetworkBuilder::conv(const std::string& path, ValueId x, const ConvSpec& spec) {
  const std::int64_t kernel = spec.window.kernel;
  const Shape weights{spec.channels, channels(x), kernel, kernel};
  const auto fan_in = static_cast<double>(channels(x) * kernel * kernel);
  const DType dtype = graph_.type(x).dtype;
  const ValueId w = graph_.add_variable(path + ".weight", {.dtype = dtype, .shape = weights},
                                        {.kind = Initializer::Kind::truncated_normal,
                                         .stddev = std::sqrt(1 / fan_in) / kTruncatedDeviation},
                                        /*trainable=*/true, /*decayed=*/true);
  const Conv2dAttributes attributes{.window = make_window(spec.window, graph_.shape(x))};
  const ValueId y = graph_.add_node(kConv2d, path, attributes, {x, w})[0];
  if (!spec.bias) {
    return y;
  }
  const ValueId bias =
      graph_.add_variable(path + ".bias", {.dtype = dtype, .shape = {spec.channels}}, {},
                          /*trainable=*/true, /*decayed=*/true);
  return graph_.add_node(kBiasAdd, path + "/bias", {}, {y, bias})[0];
}

ValueId NetworkBuilder::batch_norm(const std::string& path, ValueId x, const BatchNormSpec& spec) {
  const TensorType vector{.dtype = DType::f32, .shape = {channels(x)}};
  const Initializer one{.kind = Initializer::Kind::constant, .mean = 1};
  std::vector<ValueId> inputs{x};
  if (spec.scale) {
    inputs.push_back(graph_.add_variable(path + ".weight", vector, one, true, /*decayed=*/false));
  }
  inputs.push_back(graph_.add_variable(path + ".bias", vector, {}, true, /*decayed=*/false));
  const ValueId mean = graph_.add_variable(path + ".running_mean", vector, {}, false, false);
  const ValueId variance = graph_.add_variable(path + ".running_var", vector, one, false, false);
  const BatchNormAttributes attributes{.epsilon = spec.epsilon, .scale = spec.scale};
  if (!training_) {
    inputs.push_back(mean);
    inputs.push_back(variance);
    return graph_.add_node(kBatchNormInference, path, attributes, std::move(inputs))[0];
  }
  const auto outputs = graph_.add_node(kBatchNorm, path, attributes, std::move(inputs));
  const Shape& shape = graph_.shape(x);
  const auto n = static_cast<double>(shape[0] * shape[2] * shape[3]);
  const auto update = [&](ValueId running, ValueId batch, double factor, const char* leaf) {
    const MovingAverageAttributes average{.decay = spec.decay, .factor = factor};
    graph_.add_update(running,
                      graph_.add_node(kMovingAverage, path + leaf, average, {running, batch})[0]);
  };
  update(mean, outputs[1], 1, "/running_mean");
  update(variance, outputs[2], n > 1 ? n / (n - 1) : 1, "/running_var");
  return outputs[0];
}

ValueId NetworkBuilder::relu(const std::string& name, ValueId x) {
  return graph_.add_node(kActivation, name, ActivationAttributes{ActivationKind::relu}, {x})[0];
}

ValueId NetworkBuilder::add(const std::string& name, ValueId a, ValueId b) {
  return graph_.add_node(kAdd, name, {}, {a, b})[0];
}

ValueId NetworkBuilder::max_pool(const std::string& name, ValueId x, const WindowSpec& spec) {
  const PoolAttributes attributes{.window = make_window(spec, graph_.shape(x)),
                                  .input = graph_.shape(x)};
  return graph_.add_node(kMaxPool, name, attributes, {x})[0];
}

ValueId NetworkBuilder::spatial_mean(const std::string& name, ValueId x) {
  return graph_.add_node(kSpatialMean, name, {}, {x})[0];
}

ValueId NetworkBuilder::flatten(const std::string& name, ValueId x) {
  return graph_.add_node(kFlatten, name, {}, {x})[0];
}

ValueId NetworkBuilder::dropout(const std::string& name, ValueId x, double keep) {
  if (!training_) {
    return x;
  }
  const DropoutAttributes attributes{.keep = keep, .seed = seed_, .stream = hash_name(name)};
  return graph_.add_node(kDropout, name, attributes, {x, step()})[0];
}

ValueId NetworkBuilder::fully_connected(const std::string& path, ValueId x, std::int64_t outputs,
                                        double gain) {
  const DType dtype = graph_.type(x).dtype;
  const std::int64_t inputs = channels(x);
  const ValueId w =
      graph_.add_variable(path + ".weight", {.dtype = dtype, .shape = {outputs, inputs}},
                          {.kind = Initializer::Kind::truncated_normal,
                           .stddev = std::sqrt(gain / static_cast<double>(inputs))},
                          /*trainable=*/true, /*decayed=*/true);
  const ValueId bias = graph_.add_variable(path + ".bias", {.dtype = dtype, .shape = {outputs}}, {},
                                           /*trainable=*/true, /*decayed=*/true);
  const ValueId y = graph_.add_node(kFullyConnected, path, FullyConnectedAttributes{}, {x, w})[0];
  return graph_.add_node(kBiasAdd, path + "/bias", {}, {y, bias})[0];
}

ValueId NetworkBuilder::step() {
  const auto inputs = graph_.inputs();
  const auto found = std::find_if(inputs.begin(), inputs.end(),
                                  [&](ValueId id) { return graph_.value(id).name == kStepInput; });
  return found != inputs.end() ? *found
                               : graph_.add_input(kStepInput, {.dtype = DType::s32, .shape = {}});
}

}  // namespace bench
