#include <array>

#include "models/zoo/torch_init.h"
#include "models/zoo/torchvision_layers.h"

namespace bench {
namespace {

/// The three residual networks with fifty layers differ only in the groups of the 3x3 convolutions
/// and in their width relative to ResNet-50.
struct Bottleneck {
  std::int64_t groups = 1;
  std::int64_t widening = 1;
};

struct Block {
  std::string path;
  std::int64_t width = 0;
  std::int64_t stride = 1;
};

struct ConvNorm {
  std::int64_t channels = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t groups = 1;
};

ValueId conv_norm(NetworkBuilder& net, const std::string& conv, const std::string& norm, ValueId x,
                  const ConvNorm& spec) {
  x = net.conv(conv, x,
               {.channels = spec.channels,
                .window = centred_window(spec.kernel, spec.stride),
                .groups = spec.groups,
                .bias = false,
                .initial = he_normal_fan_out});
  return net.batch_norm(norm, x, kTorchNorm);
}

/// The stride is on the 3x3 convolution.
ValueId bottleneck(NetworkBuilder& net, ValueId input, const Block& block, const Bottleneck& kind) {
  const std::string& path = block.path;
  const std::int64_t out = 4 * block.width;
  const std::int64_t inner = kind.widening * block.width;
  ValueId shortcut = input;
  if (net.channels(input) != out || block.stride != 1) {
    shortcut = conv_norm(net, path + ".downsample.0", path + ".downsample.1", input,
                         {.channels = out, .stride = block.stride});
  }
  ValueId x = conv_norm(net, path + ".conv1", path + ".bn1", input, {.channels = inner});
  x = net.relu(path + ".relu1", x);
  x = conv_norm(net, path + ".conv2", path + ".bn2", x,
                {.channels = inner, .kernel = 3, .stride = block.stride, .groups = kind.groups});
  x = net.relu(path + ".relu2", x);
  x = conv_norm(net, path + ".conv3", path + ".bn3", x, {.channels = out});
  return net.relu(path + ".relu3", net.add(path + ".add", x, shortcut));
}

ValueId build_fifty_layers(NetworkBuilder& net, ValueId images, const Bottleneck& kind) {
  constexpr std::array kBlocks{3, 4, 6, 3};
  ValueId x = conv_norm(net, "conv1", "bn1", images, {.channels = 64, .kernel = 7, .stride = 2});
  x = net.max_pool("maxpool", net.relu("relu", x), centred_window(3, 2));
  for (std::size_t stage = 0; stage < kBlocks.size(); ++stage) {
    for (int i = 0; i < kBlocks.at(stage); ++i) {
      x = bottleneck(net, x,
                     {.path = fmt::format("layer{}.{}", stage + 1, i),
                      .width = std::int64_t{64} << stage,
                      .stride = i == 0 && stage > 0 ? 2 : 1},
                     kind);
    }
  }
  return net.fully_connected(
      "fc", net.spatial_mean("avgpool", x),
      {.outputs = net.num_classes(), .initial = torch_default, .bias_initial = torch_default});
}

}  // namespace

ValueId build_torchvision_resnet50(NetworkBuilder& net, ValueId images) {
  return build_fifty_layers(net, images, {});
}

/// Xie et al., arXiv:1611.05431.
ValueId build_resnext50_32x4d(NetworkBuilder& net, ValueId images) {
  return build_fifty_layers(net, images, {.groups = 32, .widening = 2});
}

/// Zagoruyko and Komodakis, arXiv:1605.07146.
ValueId build_wide_resnet50_2(NetworkBuilder& net, ValueId images) {
  return build_fifty_layers(net, images, {.widening = 2});
}

}  // namespace bench
