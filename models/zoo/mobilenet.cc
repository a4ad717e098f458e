#include "models/zoo/layers.h"

namespace bench {
namespace {

constexpr BatchNormSpec kNorm{.epsilon = 1e-3, .decay = 0.997, .scale = true};
constexpr double kStddev = 0.09;

/// A row of table 2 of Sandler et al., arXiv:1801.04381: `repeats` bottlenecks, of which only the
/// first has the stride. The inner convolution has `expansion` times the channels of the input.
struct Bottlenecks {
  std::int64_t expansion = 1;
  std::int64_t channels = 0;
  int repeats = 1;
  std::int64_t stride = 1;
};

constexpr Bottlenecks kBottlenecks[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                        {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

ValueId conv_relu6(NetworkBuilder& net, ValueId x, ConvSpec spec) {
  spec.initial = cut_normal_of(kStddev);
  return conv_norm_relu(net, x, spec, kNorm, ActivationKind::relu6);
}

ValueId bottleneck(NetworkBuilder& net, ValueId input, const Bottlenecks& row,
                   std::int64_t stride) {
  const std::int64_t inner = row.expansion * net.channels(input);
  ValueId x = input;
  if (row.expansion > 1) {
    x = conv_relu6(net, x, {.channels = inner});
  }
  x = conv_relu6(net, x,
                 {.channels = inner, .window = {.kernel = 3, .stride = stride}, .groups = inner});
  x = conv_norm(net, x, {.channels = row.channels, .initial = cut_normal_of(kStddev)}, kNorm);
  return stride == 1 && net.channels(input) == row.channels ? net.add(net.next("add"), x, input)
                                                            : x;
}

}  // namespace

/// MobileNet v2 with width 1. Its classifier is a 1x1 convolution.
ValueId build_mobilenet(NetworkBuilder& net, ValueId images) {
  ValueId x = conv_relu6(net, images, {.channels = 32, .window = {.kernel = 3, .stride = 2}});
  for (const Bottlenecks& row : kBottlenecks) {
    for (int i = 0; i < row.repeats; ++i) {
      x = bottleneck(net, x, row, i == 0 ? row.stride : 1);
    }
  }
  x = conv_relu6(net, x, {.channels = 1280});
  x = net.dropout("dropout", net.global_avg_pool("mean", x), 0.8);
  x = net.conv("fc", x, {.channels = net.num_classes(), .initial = cut_normal_of(kStddev)});
  return net.flatten("flatten", x);
}

}  // namespace bench
