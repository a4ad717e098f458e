#include "models/zoo/residual.h"

#include <vector>

namespace bench {
namespace {

struct Layer {
  std::int64_t channels = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
};

struct Block {
  std::string path;
  /// Channels; in a bottleneck, those of the first two convolutions.
  std::int64_t width = 0;
  std::int64_t stride = 1;
  bool projection = false;
};

std::vector<Layer> layers_of(const ResidualNetwork& network, const Block& block) {
  if (!network.bottleneck) {
    return {{block.width, 3, block.stride}, {block.width, 3, 1}};
  }
  const bool late = network.stride_on_3x3;
  return {{block.width, 1, late ? 1 : block.stride},
          {block.width, 3, late ? block.stride : 1},
          {4 * block.width, 1, 1}};
}

ValueId conv(NetworkBuilder& net, const std::string& path, ValueId x, const Layer& layer) {
  return net.conv(
      path, x,
      {.channels = layer.channels,
       .window = {.kernel = layer.kernel, .stride = layer.stride, .padding = Padding::same_resnet},
       .bias = false});
}

ValueId plain_block(NetworkBuilder& net, ValueId input, const ResidualNetwork& network,
                    const Block& block) {
  const std::vector<Layer> layers = layers_of(network, block);
  ValueId shortcut = input;
  if (block.projection) {
    shortcut =
        conv(net, block.path + ".downsample.0", input, {layers.back().channels, 1, block.stride});
    shortcut = net.batch_norm(block.path + ".downsample.1", shortcut, network.norm);
  }
  ValueId x = input;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    x = conv(net, fmt::format("{}.conv{}", block.path, i + 1), x, layers[i]);
    x = net.batch_norm(fmt::format("{}.bn{}", block.path, i + 1), x, network.norm);
    if (i + 1 == layers.size()) {
      x = net.add(block.path + ".add", x, shortcut);
    }
    x = net.relu(fmt::format("{}.relu{}", block.path, i + 1), x);
  }
  return x;
}

ValueId preactivated_block(NetworkBuilder& net, ValueId input, const ResidualNetwork& network,
                           const Block& block) {
  const std::vector<Layer> layers = layers_of(network, block);
  ValueId shortcut = input;
  ValueId x = input;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    x = net.batch_norm(fmt::format("{}.bn{}", block.path, i + 1), x,
                       i == 0 ? network.preactivation_norm : network.norm);
    x = net.relu(fmt::format("{}.relu{}", block.path, i + 1), x);
    // A projection begins at the activated input, the identity at the raw one.
    if (i == 0 && block.projection) {
      shortcut =
          conv(net, block.path + ".downsample.0", x, {layers.back().channels, 1, block.stride});
    }
    x = conv(net, fmt::format("{}.conv{}", block.path, i + 1), x, layers[i]);
  }
  return net.add(block.path + ".add", x, shortcut);
}

}  // namespace

ValueId build_residual_stages(NetworkBuilder& net, ValueId images, const ResidualNetwork& network) {
  ValueId x = conv(net, "conv1", images, {64, 7, 2});
  if (network.stem_norm) {
    x = net.relu("relu", net.batch_norm("bn1", x, network.norm));
  }
  x = net.max_pool("maxpool", x, {.kernel = 3, .stride = 2, .padding = Padding::same});
  for (std::size_t stage = 0; stage < network.blocks.size(); ++stage) {
    const std::int64_t width = std::int64_t{64} << stage;
    const std::int64_t out = network.bottleneck ? 4 * width : width;
    for (int i = 0; i < network.blocks.at(stage); ++i) {
      const Block block{.path = fmt::format("layer{}.{}", stage + 1, i),
                        .width = width,
                        .stride = i == 0 ? network.strides.at(stage) : 1,
                        .projection = i == 0 && (network.always_project || net.channels(x) != out)};
      x = network.preactivated ? preactivated_block(net, x, network, block)
                               : plain_block(net, x, network, block);
    }
  }
  if (network.preactivated) {
    x = net.relu("relu2", net.batch_norm("bn2", x, network.preactivation_norm));
  }
  return x;
}

ValueId build_residual_network(NetworkBuilder& net, ValueId images,
                               const ResidualNetwork& network) {
  const ValueId x = build_residual_stages(net, images, network);
  return net.head(net.spatial_mean("mean", x));
}

}  // namespace bench
