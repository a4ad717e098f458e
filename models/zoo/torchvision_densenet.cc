#include <array>

#include "models/zoo/torch_init.h"
#include "models/zoo/torchvision_layers.h"

namespace bench {
namespace {

constexpr std::int64_t kGrowth = 32;
/// Channels between a layer's two convolutions.
constexpr std::int64_t kBottleneck = 4 * kGrowth;

/// The names of two modules with the same parent.
struct Names {
  std::string first;
  std::string second;
};

ValueId conv(NetworkBuilder& net, const std::string& path, ValueId x, std::int64_t channels,
             const WindowSpec& window) {
  return net.conv(
      path, x,
      {.channels = channels, .window = window, .bias = false, .initial = he_normal_fan_in});
}

ValueId norm_relu(NetworkBuilder& net, const Names& names, ValueId x) {
  return net.relu(names.second, net.batch_norm(names.first, x, kTorchNorm));
}

/// The input with kGrowth new channels appended.
ValueId dense_layer(NetworkBuilder& net, const std::string& path, ValueId input) {
  ValueId x = norm_relu(net, {path + ".norm1", path + ".relu1"}, input);
  x = conv(net, path + ".conv1", x, kBottleneck, centred_window(1));
  x = norm_relu(net, {path + ".norm2", path + ".relu2"}, x);
  x = conv(net, path + ".conv2", x, kGrowth, centred_window(3));
  return net.concat(path + ".concat", std::array{input, x});
}

/// Halves the channels, the height and the width.
ValueId transition(NetworkBuilder& net, const std::string& path, ValueId x) {
  x = norm_relu(net, {path + ".norm", path + ".relu"}, x);
  x = conv(net, path + ".conv", x, net.channels(x) / 2, centred_window(1));
  return net.avg_pool(path + ".pool", x, {.kernel = 2, .stride = 2, .padding = Padding::valid});
}

/// DenseNet-BC, Huang et al., arXiv:1608.06993.
ValueId build_densenet(NetworkBuilder& net, ValueId images, const std::array<int, 4>& layers) {
  ValueId x = conv(net, "features.conv0", images, 2 * kGrowth, centred_window(7, 2));
  x = norm_relu(net, {"features.norm0", "features.relu0"}, x);
  x = net.max_pool("features.pool0", x, centred_window(3, 2));
  for (std::size_t block = 0; block < layers.size(); ++block) {
    if (block > 0) {
      x = transition(net, fmt::format("features.transition{}", block), x);
    }
    for (int i = 0; i < layers.at(block); ++i) {
      x = dense_layer(net, fmt::format("features.denseblock{}.denselayer{}", block + 1, i + 1), x);
    }
  }
  x = norm_relu(net, {"features.norm5", "relu"}, x);
  return net.fully_connected("classifier", net.spatial_mean("avgpool", x),
                             {.outputs = net.num_classes(), .initial = torch_default});
}

}  // namespace

ValueId build_densenet121(NetworkBuilder& net, ValueId images) {
  return build_densenet(net, images, {6, 12, 24, 16});
}

ValueId build_densenet169(NetworkBuilder& net, ValueId images) {
  return build_densenet(net, images, {6, 12, 32, 32});
}

ValueId build_densenet201(NetworkBuilder& net, ValueId images) {
  return build_densenet(net, images, {6, 12, 48, 32});
}

}  // namespace bench
