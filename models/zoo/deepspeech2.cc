#include "models/zoo/deepspeech2.h"

#include "models/zoo/torch_init.h"

namespace bench {
namespace {

constexpr std::int64_t kFrequencies = 161;

/// The number of frames after two convolutions with a stride of 2.
std::int64_t frames_of(std::int64_t windows) {
  const auto halved = [](std::int64_t count) { return (count + 1) / 2; };
  return halved(halved(windows));
}

/// The running variance is unbiased, as in all networks. The original's is biased after recurrent
/// layers.
constexpr BatchNormSpec kBatchNormSpec{.epsilon = 1e-5, .decay = 0.997, .scale = true};

/// Normalises the last axis of x[T,N,C] over all steps and examples.
ValueId normalize_sequence(NetworkBuilder& net, const std::string& path, ValueId x) {
  const Shape shape = net.shape(x);
  x = net.reshape(path + "/rows", x, {shape[0] * shape[1], shape[2], 1, 1});
  x = net.batch_norm(path, x, kBatchNormSpec);
  return net.reshape(path + "/steps", x, shape);
}

/// Convolution, ReLU6 and, last, batch norm.
ValueId convolve(NetworkBuilder& net, ValueId x, const WindowSpec& window) {
  constexpr std::int64_t kChannels = 32;
  const std::string path = net.next("conv");
  x = net.conv(path, x,
               {.channels = kChannels, .window = window, .bias = false, .initial = glorot_uniform});
  x = net.activation(path + "/relu6", x, ActivationKind::relu6);
  return net.batch_norm(path + "/batch_norm", x, kBatchNormSpec);
}

}  // namespace

std::vector<ExampleInput> deepspeech2_inputs(const DeepSpeech2Size& size,
                                             std::int64_t num_classes) {
  const std::int64_t frames = frames_of(size.windows);
  return {{.name = "features", .dtype = DType::f32, .shape = {1, size.windows, kFrequencies}},
          {.name = "labels", .shape = {size.characters}, .bound = num_classes - 1},
          {.name = "label_counts", .least = size.characters, .bound = size.characters + 1},
          {.name = "frames", .least = frames, .bound = frames + 1}};
}

ValueId build_deepspeech2(NetworkBuilder& net, ValueId features, const DeepSpeech2Size& size) {
  ValueId x =
      convolve(net, features,
               {.kernel = {41, 11}, .stride = 2, .padding = Padding::symmetric, .pad = {20, 5}});
  x = convolve(
      net, x,
      {.kernel = {21, 11}, .stride = {2, 1}, .padding = Padding::symmetric, .pad = {10, 5}});
  // [N,C,T,F] -> [T,N,C*F]
  const Shape maps = net.shape(x);
  x = net.reshape("maps", x, {maps[0] * maps[1], maps[2], maps[3]});
  x = net.swap_axes("time_major", x);
  x = net.reshape("frames", x, {maps[2], maps[0], maps[1] * maps[3]});
  for (int layer = 0; layer < size.layers; ++layer) {
    const std::string path = net.next("rnn");
    if (layer > 0) {
      x = normalize_sequence(net, path + "/batch_norm", x);
    }
    // TensorFlow has one matrix for the input and the state.
    const auto inputs = static_cast<double>(net.shape(x)[2] + size.units);
    const auto outputs = static_cast<double>(gates_of(size.cell) * size.units);
    const bool lstm = size.cell == RnnCell::lstm;
    x = net.rnn(path, x,
                {.attributes = {.cell = size.cell, .forget_bias = lstm ? 1.0 : 0.0},
                 .units = size.units,
                 .directions = 2,
                 .initial = glorot_uniform({.in = inputs, .out = outputs})});
  }
  x = normalize_sequence(net, "batch_norm", x);
  const Shape states = net.shape(x);
  x = net.reshape("rows", x, {states[0] * states[1], states[2]});
  x = net.fully_connected("fc", x, {.outputs = net.num_classes(), .initial = glorot_uniform});
  x = net.reshape("steps", x, {states[0], states[1], net.num_classes()});
  x = net.swap_axes("batch_major", x);
  return net.reshape("logits", x, {states[1] * states[0], net.num_classes()});
}

ValueId deepspeech2_loss(NetworkBuilder& net, ValueId logits, std::span<const ValueId> inputs) {
  const std::int64_t examples = net.shape(inputs[0])[0];
  const Shape rows = net.shape(logits);
  logits = net.reshape("loss/examples", logits, {examples, rows[0] / examples, rows[1]});
  logits = net.swap_axes("loss/time_major", logits);
  return net.ctc_loss(
      "loss",
      {.logits = logits, .labels = inputs[0], .label_counts = inputs[1], .frames = inputs[2]});
}

extern const NumberModel kDeepSpeech2{kDeepSpeech2Of<DeepSpeech2Size{}>};

}  // namespace bench
